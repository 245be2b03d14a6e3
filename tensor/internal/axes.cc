// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/axes.h"

#include <algorithm>
#include <string>

#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

[[noreturn]] void throw_overflow(const char* operation) {
  throw ShapeError("[" + std::string(operation) + "] a size of the result does not fit 64 bits.");
}

}  // namespace

List<int> normalize_axes(std::span<const int> axes, const Shape& shape, const char* operation) {
  List<int> result;
  for (const int axis : axes) result.push_back(shape.normalize_axis(axis, operation));
  std::sort(result.begin(), result.end());
  if (const auto twice = std::adjacent_find(result.begin(), result.end()); twice != result.end()) {
    throw ShapeError("[" + std::string(operation) + "] axis " + std::to_string(*twice) +
                     " is named twice: the shape is " + to_string(shape) + ".");
  }
  return result;
}

Index add_sizes(Index a, Index b, const char* operation) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow(operation);
  return sum;
}

Index multiply_sizes(Index a, Index b, const char* operation) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow(operation);
  return product;
}

Shape with_size(const Shape& shape, int axis, Index size) {
  List<Index> sizes(shape.begin(), shape.end());
  sizes[static_cast<std::size_t>(shape.normalize_axis(axis))] = size;
  return Shape(sizes);
}

}  // namespace strata::internal
