// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "strata/tensor/gradient.h"
#include "strata/tensor/tensor.h"

namespace strata {

Tensor Tensor::astype(DType dtype) const {
  if (dtype == this->dtype()) return *this;
  Tensor result = uninitialized(shape(), dtype);
  dispatch(this->dtype(), [&]<class S>(S) {
    dispatch(dtype, [&]<class T>(T) {
      const std::span<const S> from = data<S>();
      std::transform(from.begin(), from.end(), result.mutable_data<T>().begin(), convert_element<T, S>);
    });
  });
  if (!is_floating(dtype) || !is_floating(this->dtype())) return result;
  return differentiable(std::move(result), {*this}, [original = this->dtype()](const Tensor& dy) {
    return std::vector<Cotangent>{dy.astype(original)};
  });
}

}  // namespace strata
