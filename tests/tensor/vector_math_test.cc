// SPDX-License-Identifier: Apache-2.0

// The functions of internal/vector_math-inl.h, reached through the rows that elementwise operations run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "strata/tensor/cpu.h"
#include "strata/tensor/internal/elementwise.h"
#include "strata/tensor/internal/simd.h"

namespace strata::internal {
namespace {

class VectorMath : public testing::TestWithParam<std::string_view> {
 protected:
  VectorMath() { limit_instruction_set(GetParam()); }
  ~VectorMath() override { limit_instruction_set(before_); }

 private:
  std::string_view before_ = instruction_set();
};

INSTANTIATE_TEST_SUITE_P(InstructionSets, VectorMath, testing::ValuesIn(available_instruction_sets()),
                         [](const auto& level) { return std::string(level.param); });

template <typename T>
std::vector<T> values_of(Unary function, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  simd_unary_row(function, sizeof(T) == sizeof(float) ? DType::float32 : DType::float64)(x.data(), y.data(),
                                                                                         static_cast<Index>(x.size()));
  return y;
}

// Uniform numbers in [low, high], and numbers whose sizes are spread evenly over the exponents.
template <typename T>
std::vector<T> arguments(T low, T high) {
  std::mt19937 random(7);
  std::uniform_real_distribution<T> uniform(low, high);
  std::uniform_real_distribution<T> exponent(-30, std::log2(std::max(-low, high)));
  std::vector<T> x;
  for (int i = 0; i < 20000; ++i) {
    x.push_back(uniform(random));
    const T size = std::exp2(exponent(random));
    x.push_back(std::clamp(i % 2 == 0 ? size : -size, low, high));
  }
  return x;
}

// The largest error in units of the last place of the exact result.
template <typename T>
double largest_error(Unary function, long double (*exact)(long double), const std::vector<T>& x) {
  const std::vector<T> y = values_of(function, x);
  long double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double right = exact(static_cast<long double>(x[i]));
    const auto rounded = std::abs(static_cast<T>(right));
    const long double unit = static_cast<long double>(std::nextafter(rounded, std::numeric_limits<T>::max())) - rounded;
    largest = std::max(largest, std::abs(static_cast<long double>(y[i]) - right) / unit);
  }
  return static_cast<double>(largest);
}

long double exact_exp(long double x) { return std::exp(x); }
long double exact_log(long double x) { return std::log(x); }
long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_tanh(long double x) { return std::tanh(x); }

// The bounds that the header states.
TEST_P(VectorMath, ErrorsInFloatStayWithinTheStatedUnits) {
  EXPECT_LE(largest_error(Unary::exp, exact_exp, arguments(-103.0F, 88.7F)), 1.1);
  EXPECT_LE(largest_error(Unary::log, exact_log, arguments(1e-40F, 3.0F)), 1);
  EXPECT_LE(largest_error(Unary::sigmoid, exact_sigmoid, arguments(-87.3F, 87.3F)), 3);
  EXPECT_LE(largest_error(Unary::tanh, exact_tanh, arguments(-12.0F, 12.0F)), 5);
}

TEST_P(VectorMath, ErrorsInDoubleStayWithinTheStatedUnits) {
  EXPECT_LE(largest_error(Unary::exp, exact_exp, arguments(-745.0, 709.7)), 1);
  EXPECT_LE(largest_error(Unary::log, exact_log, arguments(1e-310, 3.0)), 1);
  EXPECT_LE(largest_error(Unary::sigmoid, exact_sigmoid, arguments(-708.3, 708.3)), 3);
  EXPECT_LE(largest_error(Unary::tanh, exact_tanh, arguments(-25.0, 25.0)), 3);
}

template <typename T>
void expect_values_at_the_ends() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T largest = std::numeric_limits<T>::max();
  EXPECT_EQ(values_of<T>(Unary::exp, {-infinity, -largest, 0, largest, infinity}),
            (std::vector<T>{0, 0, 1, infinity, infinity}));
  EXPECT_EQ(values_of<T>(Unary::log, {0, 1, infinity}), (std::vector<T>{-infinity, 0, infinity}));
  EXPECT_TRUE(std::isnan(values_of<T>(Unary::log, {-1})[0]));
  EXPECT_EQ(values_of<T>(Unary::tanh, {-infinity, -largest, 0, largest, infinity}), (std::vector<T>{-1, -1, 0, 1, 1}));
  EXPECT_EQ(values_of<T>(Unary::sigmoid, {-infinity, -largest, -T{1e30F}, 0, largest, infinity}),
            (std::vector<T>{0, 0, 0, 0.5, 1, 1}));
}

TEST_P(VectorMath, EndsOfTheRange) {
  expect_values_at_the_ends<float>();
  expect_values_at_the_ends<double>();
}

TEST_P(VectorMath, NaNStaysNaN) {
  for (const Unary function : {Unary::exp, Unary::log, Unary::sigmoid, Unary::tanh}) {
    // Any bits of the payload, and both signs.
    for (const char* payload : {"0", "1", "0x155"}) {
      EXPECT_TRUE(std::isnan(values_of<float>(function, {std::nanf(payload)})[0])) << static_cast<int>(function);
      EXPECT_TRUE(std::isnan(values_of<float>(function, {-std::nanf(payload)})[0])) << static_cast<int>(function);
      EXPECT_TRUE(std::isnan(values_of<double>(function, {std::nan(payload)})[0])) << static_cast<int>(function);
    }
  }
}

TEST_P(VectorMath, TanhIsAtMostOne) {
  std::vector<float> x;
  for (int i = 0; i < 40000; ++i) x.push_back(6 + static_cast<float>(i) * 1e-4F);
  const std::vector<float> y = values_of(Unary::tanh, x);
  EXPECT_LE(*std::max_element(y.begin(), y.end()), 1.0F);
}

}  // namespace
}  // namespace strata::internal
