// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>

#include "strata/nn/initializers.h"
#include "strata/state/rngs.h"
#include "strata/state/variable.h"

// What layers have in common.
namespace strata::nn::internal {

// The tensors that a layer computes with; null for a parameter that was switched off.
using Operands = std::initializer_list<const Tensor*>;

inline const Tensor* value_of(const std::optional<Param>& parameter) {
  return parameter ? &parameter->value() : nullptr;
}

// The type in which a layer computes and which its result has: `dtype` if given, else the promoted type of the operands
// that are floating; float32 if none is. Throws DTypeError that starts with `[layer]` if `dtype` is not floating.
[[nodiscard]] DType layer_dtype(std::optional<DType> dtype, Operands operands, const char* layer);

// A parameter drawn from the stream `params`.
[[nodiscard]] Param make_param(const Initializer& initializer, Rngs& rngs, const Shape& shape, DType dtype);

// The same if it is used; otherwise nothing, and nothing is drawn.
[[nodiscard]] std::optional<Param> make_param_if(bool used, const Initializer& initializer, Rngs& rngs,
                                                 const Shape& shape, DType dtype);

// Throws ShapeError that starts with `[layer]` unless the size is positive.
void check_positive(Index size, const char* what, const char* layer);

// Throws ShapeError that starts with `[layer]` unless x is [*batch, features].
void check_features(const Tensor& x, Index features, const char* layer);

}  // namespace strata::nn::internal
