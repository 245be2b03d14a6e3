// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/tensor/gradient.h"
#include "strata/tensor/tensor.h"

namespace strata {

Tensor Tensor::astype(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor result = uninitialized(shape_, dtype);
  dispatch(dtype_, [&]<class S>(S) {
    dispatch(dtype, [&]<class T>(T) {
      const std::span<const S> from = data<S>();
      std::transform(from.begin(), from.end(), result.mutable_data<T>().begin(), convert_element<T, S>);
    });
  });
  if (!is_floating(dtype) || !is_floating(dtype_)) return result;
  return differentiable(std::move(result), {*this},
                        [original = dtype_](const Tensor& dy) { return std::vector<Cotangent>{dy.astype(original)}; });
}

}  // namespace strata
