// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/shape.h"

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>
#include <vector>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/recycler.h"

namespace strata {
namespace {

std::string text_of(std::span<const Index> sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(sizes[i]);
  }
  return text + "]";
}

// Zero sizes are left out of the product, so that [2^62, 2^62, 0] is refused too: a slice of it could not be counted.
void check_sizes(std::span<const Index> sizes) {
  Index product = 1;
  for (const Index size : sizes) {
    if (size < 0) throw ShapeError("[Shape] sizes cannot be negative: " + text_of(sizes) + ".");
    if (size > 1 && product > std::numeric_limits<Index>::max() / size) {
      throw ShapeError("[Shape] the number of elements does not fit 64 bits: " + text_of(sizes) + ".");
    }
    product *= std::max<Index>(size, 1);
  }
}

Index* new_sizes(std::span<const Index> sizes) {
  auto* const copy = static_cast<Index*>(internal::allocate_block(sizes.size_bytes(), internal::Alignment::plain));
  std::copy(sizes.begin(), sizes.end(), copy);
  return copy;
}

}  // namespace

Shape::Shape(std::span<const Index> sizes) : rank_(static_cast<int>(sizes.size())) {
  check_sizes(sizes);
  if (is_inline()) {
    inline_ = {};
    std::copy(sizes.begin(), sizes.end(), inline_.begin());
  } else {
    heap_ = new_sizes(sizes);
  }
}

Index* Shape::copy_of_heap(const Shape& other) { return new_sizes(other.sizes()); }

void Shape::delete_heap() noexcept { internal::release_block(heap_, sizes().size_bytes(), internal::Alignment::plain); }

Index Shape::num_elements() const noexcept {
  Index product = 1;
  for (const Index size : *this) product *= size;
  return product;
}

int Shape::normalize_axis(int axis, const char* operation) const {
  if (axis < -rank_ || axis >= rank_) {
    throw ShapeError("[" + std::string(operation) + "] there is no axis " + std::to_string(axis) + ": the shape is " +
                     to_string(*this) + ".");
  }
  return axis < 0 ? axis + rank_ : axis;
}

Shape Shape::axes(int begin, int end) const {
  const int first = begin < 0 ? begin + rank_ : begin;
  const int last = end < 0 ? end + rank_ : end;
  if (first < 0 || last > rank_ || first > last) {
    throw ShapeError("[Shape] there are no axes " + std::to_string(begin) + " to " + std::to_string(end) +
                     ": the shape is " + to_string(*this) + ".");
  }
  return Shape(sizes().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
}

Shape Shape::without_axis(int axis) const {
  const int position = normalize_axis(axis);
  return axes(0, position).append(axes(position + 1, rank_));
}

Shape Shape::append(const Shape& inner) const {
  internal::List<Index> all(begin(), end());
  all.insert(all.end(), inner.begin(), inner.end());
  return Shape(all);
}

bool Shape::operator==(const Shape& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Shape& shape) { return text_of(shape.sizes()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* operation) {
  const int rank = std::max(a.rank(), b.rank());
  internal::List<Index> sizes(static_cast<std::size_t>(rank));
  for (int from_end = 1; from_end <= rank; ++from_end) {
    const Index left = from_end <= a.rank() ? a[-from_end] : 1;
    const Index right = from_end <= b.rank() ? b[-from_end] : 1;
    if (left != right && left != 1 && right != 1) {
      throw ShapeError("[" + std::string(operation) + "] shapes do not broadcast: " + to_string(a) + " and " +
                       to_string(b) + ". Sizes aligned at the last axis must be equal or 1.");
    }
    sizes[static_cast<std::size_t>(rank - from_end)] = left == 1 ? right : left;
  }
  return Shape(sizes);
}

}  // namespace strata
