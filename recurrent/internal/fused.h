// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "strata/recurrent/internal/cell_layout.h"
#include "strata/recurrent/scan.h"
#include "strata/tensor/tensor.h"

// Whole sequences of the standard cells as one operation on tensors, with its own backward pass.
namespace strata::recurrent::internal {

// Where one gate's weights are: columns [column, column + hidden) of the tensor number `tensor`; -1 if there are none.
struct GateSource {
  int tensor = -1;
  Index column = 0;
};

// What a cell tells of itself so that it can be run as one operation. Gates come in the order of the kernels: i, f, g,
// o or r, z, n. Kernels are [input, columns] and [hidden, columns], biases [columns].
struct FusedCell {
  CellKind kind;
  Index input;
  Index hidden;
  bool residual = false;
  std::vector<Tensor> tensors = {};
  std::array<GateSource, 4> input_kernel = {};
  std::array<GateSource, 4> recurrent_kernel = {};
  std::array<GateSource, 4> input_bias = {};
  std::array<GateSource, 4> recurrent_bias = {};

  // Adds a tensor of one gate, or of several gates side by side, and tells where their weights are.
  GateSource add(Tensor tensor);
  std::array<GateSource, 4> add_columns(Tensor tensor, int gates);
};

// How a call wants the sequence run; the carry's parts h and c as tensors (c only of cells with a memory).
struct FusedCall {
  Tensor x;
  Tensor h;
  std::optional<Tensor> c;
  std::optional<Tensor> lengths;  // checked, int64
  SequenceAxes axes;
  bool time_major;
  bool reverse;
  bool keep_order;
  PaddingOutput padding_output;
};

struct FusedResult {
  Tensor y;
  Tensor h;
  std::optional<Tensor> c;
};

// True if the operation takes these element types: all float32, or all float64.
[[nodiscard]] bool fused_takes(const FusedCell& cell, const Tensor& x);

// Throws ShapeError if x's features are not the cell's input. Differentiable in x, carry and weights.
[[nodiscard]] FusedResult run_fused(const FusedCell& cell, const FusedCall& call);

// A cell that can be run as one operation; `fused` is empty if its options ask for something the operation cannot do.
template <class C>
concept FusableCell = requires(const C& cell) {
  { cell.fused() } -> std::same_as<std::optional<FusedCell>>;
};

// Runs such a cell, whose carry is {h} or {c, h}.
template <FusableCell C>
ScanResult<typename C::Carry> scan_fused(const C& cell, const FusedCell& fused, const Tensor& x,
                                         const ScanOptions<typename C::Carry>& options) {
  constexpr bool has_memory = requires(typename C::Carry & carry) { carry.c; };
  const SequenceAxes axes = sequence_axes(x, C::num_feature_axes, options.time_major);
  std::optional<Tensor> lengths;
  if (options.seq_lengths) lengths = checked_lengths(*options.seq_lengths, axes.batch, axes.time, "scan");
  const typename C::Carry start = starting_carry(cell, axes.step, options.initial_carry);
  FusedCall call{.x = x,
                 .h = start.h,
                 .c = {},
                 .lengths = std::move(lengths),
                 .axes = axes,
                 .time_major = options.time_major,
                 .reverse = options.reverse,
                 .keep_order = options.keep_order,
                 .padding_output = options.padding_output};
  if constexpr (has_memory) call.c = start.c;
  FusedResult result = run_fused(fused, call);
  if constexpr (has_memory) {
    return {{.c = std::move(*result.c), .h = std::move(result.h)}, std::move(result.y)};
  } else {
    return {{.h = std::move(result.h)}, std::move(result.y)};
  }
}

}  // namespace strata::recurrent::internal
