// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/reduce.h"

namespace strata {
namespace {

struct Larger {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b || (a != a && b == b);
  }
};

struct Smaller {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b || (a != a && b == b);
  }
};

// The position of the first of `size` elements, `step` apart, that no other beats.
template <class T, class Beats>
Index first_best(const T* x, Index size, Index step, Beats beats) {
  Index best = 0;
  for (Index i = 1; i < size; ++i) {
    if (beats(x[i * step], x[best * step])) best = i;
  }
  return best;
}

template <class Beats>
Tensor positions(const Tensor& x, int axis, const char* name, Beats beats) {
  const int position = x.shape().normalize_axis(axis, name);
  const Index size = x.size(position);
  const Index step = x.shape().axes(position + 1, x.rank()).num_elements();
  Tensor result = Tensor::uninitialized(x.shape().without_axis(position), DType::int64);
  if (size == 0 && result.size() != 0) {
    throw ShapeError("[" + std::string(name) + "] there are no elements to choose from: the tensor is " + describe(x) +
                     ".");
  }
  const Tensor computing = stop_gradient(x).astype(computing_dtype(x.dtype()));
  dispatch(computing.dtype(), [&]<class T>(T) {
    if constexpr (std::is_arithmetic_v<T>) {
      const T* elements = computing.data<T>().data();
      Index at = 0;
      for (std::int64_t& best : result.mutable_data<std::int64_t>()) {
        best = first_best(elements + at / step * step * size + at % step, size, step, beats);
        ++at;
      }
    }
  });
  return result;
}

Tensor flat(const Tensor& x) { return stop_gradient(x).reshape(Shape{x.size()}); }

}  // namespace

Tensor argmax(const Tensor& x) { return positions(flat(x), 0, "argmax", Larger()); }
Tensor argmax(const Tensor& x, int axis) { return positions(x, axis, "argmax", Larger()); }
Tensor argmin(const Tensor& x) { return positions(flat(x), 0, "argmin", Smaller()); }
Tensor argmin(const Tensor& x, int axis) { return positions(x, axis, "argmin", Smaller()); }

}  // namespace strata
