// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/create.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "strata/tensor/error.h"

namespace strata {

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }

Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }

Tensor full(const Shape& shape, Scalar value, DType dtype) {
  if (!value.fits(dtype)) {
    throw ValueError("[full] " + to_string(value) + " is not in the range of " + std::string(name(dtype)) + ".");
  }
  Tensor result = Tensor::uninitialized(shape, dtype);
  dispatch(dtype, [&]<class T>(T) {
    const std::span<T> elements = result.mutable_data<T>();
    std::fill(elements.begin(), elements.end(), value.as<T>());
  });
  return result;
}

Tensor zeros_like(const Tensor& x) { return full_like(x, 0); }

Tensor ones_like(const Tensor& x) { return full_like(x, 1); }

Tensor full_like(const Tensor& x, Scalar value) { return full(x.shape(), value, x.dtype()); }

Tensor arange(Index end) { return arange(0, end); }

Tensor arange(Index begin, Index end, Index step) {
  if (step == 0) throw ValueError("[arange] the step is 0.");
  // Unsigned, since the distance of two numbers can exceed the largest Index.
  const auto up = step > 0;
  const auto distance = up ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)
                           : static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(end);
  const auto stride = up ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  const bool is_empty = up ? begin >= end : begin <= end;
  const std::uint64_t count = is_empty ? 0 : (distance - 1) / stride + 1;
  if (count > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
    throw ShapeError("[arange] " + std::to_string(count) + " numbers are more than a tensor can hold.");
  }
  Tensor result = Tensor::uninitialized(Shape{static_cast<Index>(count)}, DType::int64);
  std::uint64_t value = static_cast<std::uint64_t>(begin);
  for (std::int64_t& element : result.mutable_data<std::int64_t>()) {
    element = static_cast<std::int64_t>(value);
    value += static_cast<std::uint64_t>(step);
  }
  return result;
}

Tensor linspace(double begin, double end, Index count, DType dtype) {
  if (count < 0) throw ValueError("[linspace] the number of elements is negative: " + std::to_string(count) + ".");
  if (!is_floating(dtype)) {
    throw DTypeError("[linspace] a floating element type is needed, got " + std::string(name(dtype)) + ".");
  }
  Tensor result = Tensor::uninitialized(Shape{count}, DType::float64);
  const std::span<double> elements = result.mutable_data<double>();
  const auto last = static_cast<double>(count - 1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto position = static_cast<double>(i);
    elements[i] = position == 0.0 ? begin : position == last ? end : begin + (end - begin) * (position / last);
  }
  return result.astype(dtype);
}

Tensor eye(Index size, DType dtype) {
  Tensor result = zeros(Shape{size, size}, dtype);
  dispatch(dtype, [&]<class T>(T) {
    const std::span<T> elements = result.mutable_data<T>();
    for (Index i = 0; i < size; ++i) elements[static_cast<std::size_t>(i * (size + 1))] = convert_element<T>(true);
  });
  return result;
}

}  // namespace strata
