// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tensor/cpu.h"
#include "strata/tensor/internal/simd.h"
#include "strata/tensor/thread_pool.h"

namespace strata::internal {
namespace {

// A product with matrices of random numbers in [-1, 1] whose rows stand `padding` elements apart, and its sums in
// double.
template <typename T>
struct Product {
  Product(Index rows, Index columns, Index inner, GemmOptions how, Index padding)
      : m(rows),
        n(columns),
        k(inner),
        options(how),
        lda((how.transpose_a ? m : k) + padding),
        ldb((how.transpose_b ? k : n) + padding),
        ldc(n + padding) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(m + 31 * n + 1009 * k));
    fill(a, how.transpose_a ? k : m, lda, padding, random);
    fill(b, how.transpose_b ? n : k, ldb, padding, random);
    fill(c, m, ldc, padding, random);
  }

  // No element beyond the last row is allocated: reading there is seen by the address sanitizer.
  void fill(std::vector<T>& x, Index count, Index ld, Index padding, std::mt19937& random) {
    std::uniform_real_distribution<T> uniform(-1, 1);
    x = std::vector<T>(static_cast<std::size_t>(count > 0 && ld > padding ? count * ld - padding : 0));
    for (T& value : x) value = uniform(random);
  }

  [[nodiscard]] double at(const std::vector<T>& x, Index i) const {
    return static_cast<double>(x[static_cast<std::size_t>(i)]);
  }

  [[nodiscard]] double sum(Index i, Index j) const {
    double total = options.accumulate ? at(c, i * ldc + j) : 0;
    for (Index p = 0; p < k; ++p) {
      total += at(a, options.transpose_a ? p * lda + i : i * lda + p) *
               at(b, options.transpose_b ? j * ldb + p : p * ldb + j);
    }
    return total;
  }

  [[nodiscard]] std::vector<double> sums() const {
    std::vector<double> all;
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) all.push_back(sum(i, j));
    }
    return all;
  }

  void run() { gemm(m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, options); }

  // Largest difference from the sums in double; infinite if a number between the rows of C was touched.
  [[nodiscard]] double error(const std::vector<T>& before, const std::vector<double>& expected) const {
    double largest = 0;
    for (Index i = 0; i < static_cast<Index>(c.size()); ++i) {
      const Index row = i / ldc, column = i % ldc;
      if (column < n) {
        largest = std::max(largest, std::abs(at(c, i) - expected[static_cast<std::size_t>(row * n + column)]));
      } else if (at(c, i) != at(before, i)) {
        return std::numeric_limits<double>::infinity();
      }
    }
    return largest;
  }

  Index m, n, k;
  GemmOptions options;
  Index lda, ldb, ldc;
  std::vector<T> a, b, c;
};

// Each of k additions rounds a partial sum of about the square root of k, in either sum: together about k units. A
// wrong product is off by about the square root of k itself.
template <typename T>
double tolerance(Index k) {
  return std::numeric_limits<T>::epsilon() * (8 + static_cast<double>(k));
}

// Runs at one instruction set with three threads, and gives both settings back.
class Gemm : public testing::TestWithParam<std::string_view> {
 protected:
  Gemm() {
    limit_instruction_set(GetParam());
    set_num_threads(3);
  }
  ~Gemm() override {
    limit_instruction_set(instruction_set_before_);
    set_num_threads(threads_before_);
  }

 private:
  std::string_view instruction_set_before_ = instruction_set();
  int threads_before_ = num_threads();
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, Gemm, testing::ValuesIn(available_instruction_sets()),
                         [](const auto& level) { return std::string(level.param); });

constexpr std::array<GemmOptions, 8> all_options = {{{},
                                                     {.transpose_a = true},
                                                     {.transpose_b = true},
                                                     {.transpose_a = true, .transpose_b = true},
                                                     {.accumulate = true},
                                                     {.transpose_a = true, .accumulate = true},
                                                     {.transpose_b = true, .accumulate = true},
                                                     {.transpose_a = true, .transpose_b = true, .accumulate = true}}};

template <typename T>
void expect_right(Index m, Index n, Index k, Index padding) {
  for (const GemmOptions& options : all_options) {
    Product<T> product(m, n, k, options, padding);
    const std::vector<T> before = product.c;
    const std::vector<double> expected = product.sums();
    product.run();
    EXPECT_LE(product.error(before, expected), tolerance<T>(k))
        << m << " x " << n << " x " << k << ", padding " << padding << ", transposed " << options.transpose_a
        << options.transpose_b << ", accumulate " << options.accumulate;
  }
}

TEST_P(Gemm, SmallSizesAgreeWithSumsInDouble) {
  constexpr std::array<Index, 8> sizes = {0, 1, 2, 3, 7, 8, 17, 33};
  for (const Index m : sizes) {
    for (const Index n : sizes) {
      for (const Index k : sizes) {
        expect_right<float>(m, n, k, 0);
        expect_right<double>(m, n, k, 3);
      }
    }
  }
}

TEST_P(Gemm, BlocksOfRowsColumnsAndDepthAgreeWithSumsInDouble) {
  for (const auto& [m, n, k] : {std::array<Index, 3>{300, 20, 30}, {20, 420, 30}, {13, 29, 700}, {151, 401, 40}}) {
    expect_right<float>(m, n, k, 1);
    expect_right<double>(m, n, k, 0);
  }
}

TEST_P(Gemm, MoreColumnsThanOneBlockAgreeWithSumsInDouble) {
  expect_right<float>(150, 2100, 9, 0);
  expect_right<double>(7, 2100, 9, 2);
}

TEST_P(Gemm, BitsDoNotDependOnTheNumberOfThreads) {
  for (const auto& [m, n, k] :
       {std::array<Index, 3>{200, 200, 300}, {1000, 40, 33}, {40, 1000, 33}, {1, 900, 700}, {900, 1, 700}}) {
    for (const GemmOptions& options : all_options) {
      Product<float> one(m, n, k, options, 0);
      Product<float> many = one;
      set_num_threads(1);
      one.run();
      set_num_threads(4);
      many.run();
      EXPECT_EQ(one.c, many.c) << m << " x " << n << " x " << k;
    }
  }
}

TEST_P(Gemm, OverwritesWhateverCHeld) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::vector<float> c(4, nan);
  gemm(2, 2, 2, a.data(), 2, b.data(), 2, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));  // by hand
  c.assign(4, nan);
  gemm(2, 2, 0, a.data(), 0, b.data(), 2, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0, 0, 0}));
}

TEST_P(Gemm, ZeroTimesNaNIsNaN) {
  const std::vector<double> a = {0, 0}, b = {std::numeric_limits<double>::quiet_NaN(), 1};
  double c = 0;
  gemm(1, 1, 2, a.data(), 2, b.data(), 1, &c, 1);
  EXPECT_TRUE(std::isnan(c));
}

TEST_P(Gemm, BatchesMultiplyMatrixByMatrix) {
  constexpr Index batch = 7, m = 5, n = 9, k = 11;
  const Product<double> left(batch * m, 1, k, {}, 0), right(batch * k, 1, n, {}, 0);
  std::vector<double> c(batch * m * n), expected(batch * m * n);
  batched_gemm(batch, {m * k, k * n, m * n}, m, n, k, left.a.data(), k, right.a.data(), n, c.data(), n);
  for (Index i = 0; i < batch; ++i) {
    gemm(m, n, k, left.a.data() + i * m * k, k, right.a.data() + i * k * n, n, expected.data() + i * m * n, n);
  }
  EXPECT_EQ(c, expected);
}

TEST_P(Gemm, ABatchMayShareOneOperand) {
  const std::vector<float> a = {1, 2, 3, 4}, b = {1, 10};
  std::vector<float> c(4);
  // Two products of [2, 1] and [1, 1]; b is the same for both.
  batched_gemm(2, {2, 0, 2}, 2, 1, 1, a.data(), 1, b.data() + 1, 1, c.data(), 1);
  EXPECT_EQ(c, (std::vector<float>{10, 20, 30, 40}));
}

}  // namespace
}  // namespace strata::internal
