// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <utility>

#include "strata/recurrent/internal/kernels/row_order.h"
#include "strata/recurrent/internal/scan/fused_cell.h"
#include "strata/recurrent/internal/scan/scan_packed.h"
#include "strata/recurrent/noise.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/tensor.h"

// Whole sequences of the standard cells as one operation on tensors, with its own backward pass.
namespace strata::recurrent::internal {

template <class T>
struct PackedWeights;

// How a call wants the sequence run; x is [*places, input]. The carry's parts h and c have one row for each of the
// shape's (c only of cells with a memory).
struct FusedCall {
  Tensor x;
  Tensor h;
  std::optional<Tensor> c;
  SequenceShape shape;
  std::optional<Tensor> h_mask = {};  // multiplies h in the recurrent product; one row for each of the shape's
  std::optional<Tensor> resets = {};  // bool, one for each place; then the carry to reset to:
  std::optional<Tensor> reset_h = {};
  std::optional<Tensor> reset_c = {};
  std::optional<Index> checkpoint_every = {};  // as in ScanOptions
};

struct FusedResult {
  Tensor y;
  Tensor h;
  std::optional<Tensor> c;
};

// Takes what begin_scan has checked. Differentiable in x, carry and weights.
[[nodiscard]] FusedResult run_fused(const FusedCell& cell, const FusedCall& call);

// The weights of such a cell, packed. Throws ValueError if there is none, DTypeError unless they are all float32.
[[nodiscard]] std::shared_ptr<const PackedWeights<float>> pack_for_streams(const std::optional<FusedCell>& cell);

// Runs a cell whose carry is {h} or {c, h}.
template <class Carry>
ScanResult<Carry> run_fused_cell(const FusedCell& fused, const Tensor& x, const StartingCarries<Carry>& carries,
                                 SequenceShape shape, std::optional<Tensor> h_mask, std::optional<Tensor> resets,
                                 std::optional<Index> checkpoint_every) {
  constexpr bool has_memory = requires(const Carry& carry) { carry.c; };
  FusedCall call{.x = x,
                 .h = carries.initial.h,
                 .c = {},
                 .shape = std::move(shape),
                 .h_mask = std::move(h_mask),
                 .resets = std::move(resets),
                 .reset_h = carries.reset.h,
                 .checkpoint_every = checkpoint_every};
  if constexpr (has_memory) {
    call.c = carries.initial.c;
    call.reset_c = carries.reset.c;
  }
  FusedResult result = run_fused(fused, call);
  if constexpr (has_memory) {
    return {{.c = std::move(*result.c), .h = std::move(result.h)}, std::move(result.y)};
  } else {
    return {{.h = std::move(result.h)}, std::move(result.y)};
  }
}

// The masks that a cell draws for a sequence of inputs [*batch, features]; none where nothing is dropped.
template <FusableCell C>
DropoutMasks draw_masks(C& cell, const FusedCell& fused, const typename C::Carry& initial, const Shape& step,
                        bool has_steps) {
  if constexpr (std::same_as<SequenceOf<C>, DropoutMasks>) {
    if (fused.is_masked && has_steps) return begin_sequence(cell, initial, step);
  }
  return {};
}

// Take a cell that has a fused form which takes x.
template <FusableCell C>
ScanResult<typename C::Carry> scan_fused(C& cell, const std::optional<FusedCell>& fused, const Tensor& x,
                                         const ScanOptions<typename C::Carry>& options) {
  ScanStart<typename C::Carry> start = begin_scan(cell, fused, x, options);
  DropoutMasks masks = draw_masks(cell, *fused, start.carries.initial, start.axes.step, start.axes.time > 0);
  const Tensor input = masks.x ? x * expand_dims(*masks.x, start.axes.time_axis) : x;
  return run_fused_cell(*fused, input, start.carries, start.shape(), std::move(masks.h), std::move(start.resets),
                        options.checkpoint_every);
}

template <FusableCell C>
PackedScanResult<typename C::Carry> scan_packed_fused(C& cell, const std::optional<FusedCell>& fused,
                                                      const PackedSequence& x,
                                                      const ScanOptions<typename C::Carry>& options) {
  PackedStart<typename C::Carry> start = begin_packed_scan(cell, fused, x, options);
  DropoutMasks masks = draw_masks(cell, *fused, start.carries.initial, step_shape(x), x.total_steps() > 0);
  const Tensor input = masks.x ? x.data() * at_each_step(*masks.x, x) : x.data();
  auto [carry, y] = run_fused_cell(*fused, input, start.carries, std::move(start.shape), std::move(masks.h),
                                   std::move(start.resets), options.checkpoint_every);
  return {std::move(carry), x.with_data(std::move(y))};
}

}  // namespace strata::recurrent::internal
