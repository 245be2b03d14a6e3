// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/internal/checks.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/tensor/error.h"
#include "strata/tensor/scalar.h"

namespace strata::optim::internal {
namespace {

void require(bool fits, const char* operation, const char* parameter, double value, const char* wanted) {
  if (fits) return;
  throw ValueError(fmt::format("[{}] {} is {}. Give {}.", operation, parameter, to_string(Scalar(value)), wanted));
}

}  // namespace

void check_finite(const char* operation, const char* parameter, double value) {
  require(std::isfinite(value), operation, parameter, value, "a finite number");
}

void check_positive(const char* operation, const char* parameter, double value) {
  require(std::isfinite(value) && value > 0, operation, parameter, value, "a finite number above 0");
}

void check_not_negative(const char* operation, const char* parameter, double value) {
  require(std::isfinite(value) && value >= 0, operation, parameter, value, "a finite number, 0 or above");
}

void check_decay(const char* operation, const char* parameter, double value) {
  require(value >= 0 && value < 1, operation, parameter, value, "a number from 0 to below 1");
}

void check_share(const char* operation, const char* parameter, double value) {
  require(value >= 0 && value <= 1, operation, parameter, value, "a number from 0 to 1");
}

void check_nesterov(const char* operation, bool nesterov, bool has_momentum) {
  if (!nesterov || has_momentum) return;
  throw ValueError(fmt::format(
      "[{}] nesterov is a form of momentum, and there is none. Give `momentum`, or leave `nesterov` out.", operation));
}

void check_learning_rate(const char* operation, const Schedule& learning_rate) {
  if (learning_rate.is_constant()) check_not_negative(operation, "learning_rate", learning_rate(0));
}

}  // namespace strata::optim::internal
