// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/internal/whole_step.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "strata/tensor/error.h"

namespace strata::optim::internal {
namespace {

// Afterwards writing allocates nothing.
void unshare(std::span<Tensor> tensors) {
  for (Tensor& tensor : tensors) static_cast<void>(tensor.mutable_bytes());
}

void unshare(Memory& memory) {
  for (Memory::Scalar& scalar : memory.scalars) unshare({&scalar.value, 1});
  for (Memory::Slot& slot : memory.slots) unshare(slot.values);
  for (Memory& link : memory.links) unshare(link);
}

// Two-byte floats are updated through wider copies.
bool is_written_in_place(const Tensor& param) { return !is_two_byte_float(param.dtype()); }

void check_kept(const Tensor& before, const Tensor& after) {
  const std::string text = "[Optimizer::update] the transformation makes " + describe(after) + " of a parameter " +
                           describe(before) + ". Nothing was changed.";
  if (before.shape() != after.shape()) throw ShapeError(text);
  if (before.dtype() != after.dtype()) throw DTypeError(text);
}

}  // namespace

void whole_step(const Transformation::Rule& rule, std::span<Tensor> params, std::vector<Tensor> gradients,
                Memory& memory) {
  if (rule.writes_last() && std::all_of(params.begin(), params.end(), is_written_in_place)) {
    unshare(params);
    unshare(memory);
    return rule.step(params, std::move(gradients), memory);
  }
  static_assert(std::is_nothrow_move_assignable_v<Tensor> && std::is_nothrow_move_assignable_v<Memory>);
  std::vector<Tensor> next_params(params.begin(), params.end());
  Memory next_memory = memory;
  rule.step(next_params, std::move(gradients), next_memory);
  for (std::size_t i = 0; i < params.size(); ++i) check_kept(params[i], next_params[i]);
  std::move(next_params.begin(), next_params.end(), params.begin());
  memory = std::move(next_memory);
}

}  // namespace strata::optim::internal
