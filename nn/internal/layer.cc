// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/layer.h"

#include <fmt/format.h>

#include "strata/tensor/error.h"

namespace strata::nn::internal {

DType layer_dtype(std::optional<DType> dtype, Operands operands, const char* layer) {
  if (dtype) {
    if (!is_floating(*dtype)) {
      throw DTypeError(fmt::format("[{}] cannot compute in {}. Choose a floating dtype.", layer, name(*dtype)));
    }
    return *dtype;
  }
  std::optional<DType> promoted;
  for (const Tensor* operand : operands) {
    if (operand == nullptr || !is_floating(operand->dtype())) continue;
    promoted = promoted ? promote(*promoted, operand->dtype()) : operand->dtype();
  }
  return promoted.value_or(DType::float32);
}

Param make_param(const Initializer& initializer, Rngs& rngs, const Shape& shape, DType dtype) {
  return Param(initializer(rngs.draw("params"), shape, dtype));
}

std::optional<Param> make_param_if(bool used, const Initializer& initializer, Rngs& rngs, const Shape& shape,
                                   DType dtype) {
  return used ? std::optional<Param>(make_param(initializer, rngs, shape, dtype)) : std::nullopt;
}

void check_positive(Index size, const char* what, const char* layer) {
  if (size > 0) return;
  throw ShapeError(fmt::format("[{}] {} is {}. Give a positive size.", layer, what, size));
}

void check_features(const Tensor& x, Index features, const char* layer) {
  if (x.rank() > 0 && x.size(-1) == features) return;
  throw ShapeError(fmt::format("[{}] x is {}; it takes [*batch, {}].", layer, describe(x), features));
}

}  // namespace strata::nn::internal
