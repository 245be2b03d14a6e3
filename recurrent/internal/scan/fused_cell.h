// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "strata/nn/linear.h"
#include "strata/recurrent/internal/kernels/cell_layout.h"
#include "strata/tensor/tensor.h"

// What the standard cells tell of themselves, so that whole sequences can be run as one operation (fused.h).
namespace strata::recurrent::internal {

// Where one gate's weights are: columns [column, column + hidden) of the tensor number `tensor`; -1 if there are none.
struct GateSource {
  int tensor = -1;
  Index column = 0;
};

using GateSources = std::array<GateSource, 4>;

// What a cell tells of itself so that it can be run as one operation. Gates come in the order of the kernels: i, f, g,
// o or r, z, n.
struct FusedCell {
  CellKind kind;
  Index input;
  Index hidden;
  bool residual = false;
  std::vector<Tensor> tensors = {};
  GateSources input_kernel = {};
  GateSources recurrent_kernel = {};
  GateSources input_bias = {};
  GateSources recurrent_bias = {};
  bool as_stored = true;   // the maps compute in the type of their parameters
  bool is_masked = false;  // the cell draws masks for a sequence

  // Add the maps of x and of h: one for each gate, or one for all gates side by side. Throw ShapeError if a kernel or a
  // bias does not have the shape that follows from the sizes of the cell.
  void add_input_maps(std::initializer_list<const nn::Linear*> maps);
  void add_recurrent_maps(std::initializer_list<const nn::Linear*> maps);

 private:
  void add_maps(std::initializer_list<const nn::Linear*> maps, Index rows, GateSources& kernels, GateSources& biases);
};

// True if the operation takes these element types: all float32, or all float64.
[[nodiscard]] bool fused_takes(const FusedCell& cell, const Tensor& x);

// Throws ShapeError unless x has as many features as the cell takes.
void check_fused_input(const FusedCell& cell, const Tensor& x);

// What a part of a carry must be. Any floating type will do if there is none here.
struct PartForm {
  Shape shape;
  std::optional<DType> dtype;
};

// Throws ShapeError or DTypeError, naming operation and part, if a cell's own initial carry does not fit the cell: its
// parts may be parameters, which can be set to anything.
void check_own_part(const char* operation, const std::string& part, const Tensor& got, const PartForm& expected);

// A cell that can be run as one operation; `fused` is empty if its options ask for something the operation cannot do.
template <class C>
concept FusableCell = requires(const C& cell) {
  { cell.fused() } -> std::same_as<std::optional<FusedCell>>;
};

template <class C>
[[nodiscard]] std::optional<FusedCell> fused_form(const C& cell) {
  if constexpr (FusableCell<C>) {
    return cell.fused();
  } else {
    return std::nullopt;
  }
}

}  // namespace strata::recurrent::internal
