// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/index.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/manipulate.h"

namespace strata {
namespace {

using Positions = internal::List<Index>;

// A shape seen from one of its axes.
struct Layout {
  Layout(const Shape& shape, int axis)
      : outer(shape.axes(0, axis).num_elements()),
        size(shape[axis]),
        inner(shape.axes(axis + 1, shape.rank()).num_elements()) {}
  Index outer;
  Index size;
  Index inner;
};

// Indices of an axis of n entries, counted from the front.
Positions resolve(const Tensor& indices, Index n, const char* operation) {
  if (!is_integer(indices.dtype())) {
    throw DTypeError("[" + std::string(operation) + "] indices must be integers, got " + describe(indices) + ".");
  }
  Positions positions;
  positions.reserve(static_cast<std::size_t>(indices.size()));
  internal::for_each_integer(indices, [&](auto value) {
    if (std::cmp_less(value, -n) || std::cmp_greater_equal(value, n)) {
      throw ValueError("[" + std::string(operation) + "] index " + std::to_string(value) + " (number " +
                       std::to_string(positions.size()) + " of " + describe(indices) + ") is out of range: there are " +
                       std::to_string(n) + " entries.");
    }
    const auto index = static_cast<Index>(value);
    positions.push_back(index < 0 ? index + n : index);
  });
  return positions;
}

Shape taken_shape(const Tensor& x, const Tensor& indices, int axis) {
  return x.shape().axes(0, axis).append(indices.shape()).append(x.shape().axes(axis + 1, x.rank()));
}

template <class T>
void add(T& sum, T term) {
  if constexpr (std::is_same_v<T, bool>) {
    sum = sum || term;
  } else if constexpr (std::is_integral_v<T>) {
    sum = static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(term));  // wraps, as in NumPy
  } else {
    sum += term;
  }
}

// Calls f with the C++ type of a dtype that is not a two-byte float.
template <class F>
void dispatch_computable(DType dtype, F&& f) {
  dispatch(dtype, [&]<class T>(T zero) {
    if constexpr (std::is_arithmetic_v<T>) f(zero);
  });
}

// sum[o, positions[p], i] += terms[o, p, i].
void add_entries(Tensor& sum, const Layout& layout, const Positions& positions, const Tensor& terms) {
  if (terms.size() == 0) return;
  dispatch_computable(sum.dtype(), [&]<class T>(T) {
    T* to = sum.mutable_data<T>().data();
    const T* from = terms.data<T>().data();
    for (Index o = 0; o < layout.outer; ++o, to += layout.size * layout.inner) {
      for (const Index position : positions) {
        T* entry = to + position * layout.inner;
        for (Index i = 0; i < layout.inner; ++i) add(entry[i], *from++);
      }
    }
  });
}

// sum[o, positions[o, p, i], i] += terms[o, p, i].
void add_elements(Tensor& sum, const Layout& layout, const Positions& positions, const Tensor& terms) {
  if (terms.size() == 0) return;
  const Index count = static_cast<Index>(positions.size()) / (layout.outer * layout.inner);
  dispatch_computable(sum.dtype(), [&]<class T>(T) {
    T* to = sum.mutable_data<T>().data();
    const T* from = terms.data<T>().data();
    const Index* position = positions.data();
    for (Index o = 0; o < layout.outer; ++o, to += layout.size * layout.inner) {
      for (Index p = 0; p < count; ++p) {
        for (Index i = 0; i < layout.inner; ++i) add(to[*position++ * layout.inner + i], *from++);
      }
    }
  });
}

// The gradient of an operation that picked elements of a tensor [shape]: zeros plus what `add_terms` adds of dy.
// Two-byte floats are summed in float32 and rounded once.
template <class F>
std::vector<Cotangent> scattered(const Shape& shape, const Tensor& dy, F&& add_terms) {
  const DType dtype = computing_dtype(dy.dtype());
  Tensor dx = zeros(shape, dtype);
  add_terms(dx, dy.astype(dtype));
  return {dx.astype(dy.dtype())};
}

Tensor taken(const Tensor& x, const Layout& layout, const Positions& positions, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape, x.dtype());
  if (result.size() == 0) return result;
  const Index entry_bytes = layout.inner * size_in_bytes(x.dtype());
  std::byte* to = result.mutable_bytes().data();
  const std::byte* from = x.bytes().data();
  for (Index o = 0; o < layout.outer; ++o, from += layout.size * entry_bytes) {
    for (const Index position : positions) {
      std::memcpy(to, from + position * entry_bytes, static_cast<std::size_t>(entry_bytes));
      to += entry_bytes;
    }
  }
  return result;
}

Tensor taken_along_axis(const Tensor& x, const Layout& layout, const Positions& positions, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape, x.dtype());
  if (result.size() == 0) return result;
  const Index count = static_cast<Index>(positions.size()) / (layout.outer * layout.inner);
  dispatch(x.dtype(), [&]<class T>(T) {
    T* to = result.mutable_data<T>().data();
    const T* from = x.data<T>().data();
    const Index* position = positions.data();
    for (Index o = 0; o < layout.outer; ++o, from += layout.size * layout.inner) {
      for (Index p = 0; p < count; ++p) {
        for (Index i = 0; i < layout.inner; ++i) *to++ = from[*position++ * layout.inner + i];
      }
    }
  });
  return result;
}

// The shape that the axes other than `axis` take together.
Shape common_shape(const Tensor& x, const Tensor& indices, int axis) {
  bool fits = x.rank() == indices.rank();
  internal::List<Index> sizes(x.shape().begin(), x.shape().end());
  for (int i = 0; fits && i < x.rank(); ++i) {
    if (i == axis) continue;
    const Index other = indices.size(i);
    Index& size = sizes[static_cast<std::size_t>(i)];
    fits = size == other || size == 1 || other == 1;
    if (size == 1) size = other;
  }
  if (!fits) {
    throw ShapeError("[take_along_axis] indices " + describe(indices) + " do not fit " + describe(x) +
                     ": ranks must be equal, and sizes other than that of axis " + std::to_string(axis) +
                     " equal or 1.");
  }
  return Shape(std::span<const Index>(sizes));
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  const int position = x.shape().normalize_axis(axis, "take");
  const Layout layout(x.shape(), position);
  Positions positions = resolve(indices, layout.size, "take");
  Tensor result = taken(x, layout, positions, taken_shape(x, indices, position));
  return differentiable(
      std::move(result), {x}, [layout, positions = std::move(positions), shape = x.shape()](const Tensor& dy) {
        return scattered(shape, dy,
                         [&](Tensor& dx, const Tensor& terms) { add_entries(dx, layout, positions, terms); });
      });
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  const int position = x.shape().normalize_axis(axis, "take_along_axis");
  const Shape common = common_shape(x, indices, position);
  Positions positions = resolve(broadcast_to(indices, internal::with_size(common, position, indices.size(position))),
                                x.size(position), "take_along_axis");
  const Tensor source = broadcast_to(x, common);
  const Layout layout(common, position);
  Tensor result =
      taken_along_axis(source, layout, positions, internal::with_size(common, position, indices.size(position)));
  return differentiable(
      std::move(result), {source}, [layout, positions = std::move(positions), common](const Tensor& dy) {
        return scattered(common, dy,
                         [&](Tensor& dx, const Tensor& terms) { add_elements(dx, layout, positions, terms); });
      });
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& updates, int axis) {
  const int position = x.shape().normalize_axis(axis, "scatter_add");
  const Layout layout(x.shape(), position);
  const Positions positions = resolve(indices, layout.size, "scatter_add");
  if (const Shape expected = taken_shape(x, indices, position); updates.shape() != expected) {
    throw ShapeError("[scatter_add] updates have the shape " + to_string(updates.shape()) + ", expected " +
                     to_string(expected) + " for " + describe(x) + " and indices " + to_string(indices.shape()) + ".");
  }
  if (updates.dtype() != x.dtype()) {
    throw DTypeError("[scatter_add] updates are " + std::string(name(updates.dtype())) + ", the tensor " +
                     std::string(name(x.dtype())) + ". Convert with astype.");
  }
  if (is_two_byte_float(x.dtype())) {
    return scatter_add(x.astype(DType::float32), indices, updates.astype(DType::float32), position).astype(x.dtype());
  }
  Tensor result = stop_gradient(x);
  add_entries(result, layout, positions, stop_gradient(updates));
  return differentiable(std::move(result), {x, updates}, [indices, position](const Tensor& dy) {
    return std::vector<Cotangent>{dy, take(dy, indices, position)};
  });
}

Tensor one_hot(const Tensor& indices, Index n, DType dtype) {
  if (n < 0) throw ValueError("[one_hot] the number of classes is negative: " + std::to_string(n) + ".");
  const Positions positions = resolve(indices, n, "one_hot");
  Tensor result = zeros(indices.shape().append({n}), dtype);
  dispatch(dtype, [&]<class T>(T) {
    T* row = result.mutable_data<T>().data();
    for (const Index position : positions) {
      row[position] = convert_element<T>(1.0f);
      row += n;
    }
  });
  return result;
}

}  // namespace strata
