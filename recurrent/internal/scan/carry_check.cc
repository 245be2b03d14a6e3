// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/carry_check.h"

#include <fmt/format.h>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {
namespace {

// "[scan] part `h` of the initial carry"; a carry that is one tensor, or one list, has no parts with names.
std::string subject(const CarryCheck& check, const std::string& part) {
  if (part.empty()) return fmt::format("[{}] the {}", check.operation, check.carry);
  return fmt::format("[{}] part `{}` of the {}", check.operation, part, check.carry);
}

}  // namespace

void CarryCheck::operator()(const std::string& part, const Tensor& got, const Tensor& expected) const {
  const auto message = [&] {
    return fmt::format("{} is {}, expected {}.", subject(*this, part), describe(got), describe(expected));
  };
  if (got.shape() != expected.shape()) throw ShapeError(message());
  if (got.dtype() != expected.dtype()) throw DTypeError(message());
}

void CarryCheck::check_num_entries(const std::string& part, std::size_t got, std::size_t expected) const {
  if (got == expected) return;
  throw ShapeError(
      fmt::format("{} has {} {}, expected {}.", subject(*this, part), got, got == 1 ? "entry" : "entries", expected));
}

}  // namespace strata::recurrent::internal
