// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/internal/simd.h"
#include "strata/tensor/reduce.h"

// The vectorised loops, at every instruction set that this CPU runs and at lengths around that of a vector.
namespace strata {
namespace {

constexpr Index longest = 70;

class EveryInstructionSet : public ::testing::Test {
 protected:
  template <class F>
  static void for_each_length(F f) {
    const std::vector<std::string_view> all = internal::available_instruction_sets();
    for (const std::string_view name : all) {
      internal::limit_instruction_set(name);
      SCOPED_TRACE(name);
      for (Index n = 0; n <= longest; ++n) f(n);
    }
    internal::limit_instruction_set(all.front());
  }
};

// Numbers whose sums and products are exact.
Tensor small_integers(Index n, Index factor, DType dtype) { return (arange(n) * factor + 3).astype(dtype); }

template <class T>
void expect_elements(const Tensor& y, const std::function<T(T)>& expected_of_position) {
  for (std::size_t i = 0; i < y.data<T>().size(); ++i) {
    ASSERT_EQ(y.data<T>()[i], expected_of_position(static_cast<T>(i))) << "element " << i << " of " << y.size();
  }
}

template <class T>
void expect_binary_operations(Index n) {
  const Tensor a = small_integers(n, 5, dtype_of<T>);
  const Tensor b = small_integers(n, -2, dtype_of<T>);
  expect_elements<T>(a + b, [](T i) { return 3 * i + 6; });
  expect_elements<T>(a - b, [](T i) { return 7 * i; });
  expect_elements<T>(a * b, [](T i) { return (5 * i + 3) * (3 - 2 * i); });
  expect_elements<T>(a / b, [](T i) { return (5 * i + 3) / (3 - 2 * i); });
  expect_elements<T>(maximum(a - 10, b), [](T i) { return std::max(5 * i - 7, 3 - 2 * i); });
  expect_elements<T>(minimum(a - 10, b), [](T i) { return std::min(5 * i - 7, 3 - 2 * i); });
  expect_elements<T>(2 - a, [](T i) { return -1 - 5 * i; });
  expect_elements<T>(a - 2, [](T i) { return 1 + 5 * i; });
  expect_elements<T>(-b, [](T i) { return 2 * i - 3; });
  expect_elements<T>(sqrt(square(b)), [](T i) { return std::abs(2 * i - 3); });
}

TEST_F(EveryInstructionSet, CombinesEveryElement) {
  for_each_length([](Index n) {
    expect_binary_operations<float>(n);
    expect_binary_operations<double>(n);
  });
}

template <class T>
void expect_reductions(Index n) {
  const auto count = static_cast<T>(n);
  const Tensor x = small_integers(n, -2, dtype_of<T>);
  EXPECT_EQ(sum(x).item<T>(), count * 3 - count * (count - 1));
  if (n == 0) return;
  EXPECT_EQ(max(x).item<T>(), T{3});
  EXPECT_EQ(min(x).item<T>(), 5 - 2 * count);
  const Tensor rows = x * tensor<T>({1, 10, -1}, {3, 1});
  expect_elements<T>(sum(rows, 0), [](T i) { return 10 * (3 - 2 * i); });
  expect_elements<T>(max(rows, 0), [](T i) { return i <= 1 ? 10 * (3 - 2 * i) : 2 * i - 3; });
}

TEST_F(EveryInstructionSet, FoldsEveryElement) {
  for_each_length([](Index n) {
    expect_reductions<float>(n);
    expect_reductions<double>(n);
  });
}

}  // namespace
}  // namespace strata
