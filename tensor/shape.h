// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

namespace strata {

// Sizes, positions and counts. Signed, so that differences and "from the end" need no casts.
using Index = std::int64_t;

// The sizes of a tensor's axes, outermost first. Rank 0 is the shape of a scalar. Ranks up to 4 are stored in place.
class Shape {
 public:
  Shape() noexcept : inline_{} {}
  Shape(std::initializer_list<Index> sizes) : Shape(std::span<const Index>(sizes.begin(), sizes.size())) {}

  // Throws ShapeError if a size is negative or the number of elements does not fit an Index.
  explicit Shape(std::span<const Index> sizes);

  Shape(const Shape& other) : rank_(other.rank_) {
    if (is_inline()) {
      inline_ = other.inline_;
    } else {
      heap_ = copy_of_heap(other);
    }
  }
  Shape(Shape&& other) noexcept { take(other); }  // leaves [0], the shape of a tensor without elements
  Shape& operator=(const Shape& other) {
    if (this != &other) *this = Shape(other);
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    if (this == &other) return *this;
    if (!is_inline()) delete_heap();
    take(other);
    return *this;
  }
  ~Shape() {
    if (!is_inline()) delete_heap();
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] std::span<const Index> sizes() const noexcept { return {data(), static_cast<std::size_t>(rank_)}; }
  [[nodiscard]] const Index* begin() const noexcept { return data(); }
  [[nodiscard]] const Index* end() const noexcept { return data() + rank_; }

  // The size of an axis; negative axes count from the end. Throws ShapeError if there is no such axis.
  [[nodiscard]] Index operator[](int axis) const { return data()[normalize_axis(axis)]; }

  // The product of all sizes; 1 for a scalar.
  [[nodiscard]] Index num_elements() const noexcept;

  // Axis as a position in [0, rank). Throws ShapeError that starts with `[operation]` if there is no such axis.
  [[nodiscard]] int normalize_axis(int axis, const char* operation = "Shape") const;

  // The axes [begin, end) as a shape of their own; negative positions count from the end.
  [[nodiscard]] Shape axes(int begin, int end) const;
  [[nodiscard]] Shape without_axis(int axis) const;

  // This shape followed by `inner`.
  [[nodiscard]] Shape append(const Shape& inner) const;

  [[nodiscard]] bool operator==(const Shape& other) const noexcept;

 private:
  static constexpr int inline_rank = 4;
  [[nodiscard]] bool is_inline() const noexcept { return rank_ <= inline_rank; }
  [[nodiscard]] const Index* data() const noexcept { return is_inline() ? inline_.data() : heap_; }
  static Index* copy_of_heap(const Shape& other);
  void delete_heap() noexcept;

  // Becomes `other`; holds nothing before.
  void take(Shape& other) noexcept {
    rank_ = other.rank_;
    if (is_inline()) {
      inline_ = other.inline_;
    } else {
      heap_ = other.heap_;
    }
    other.rank_ = 1;
    other.inline_ = {};
  }

  // States hold a shape for every variable: the common ranks take 40 bytes, without an allocation.
  int rank_ = 0;
  union {
    std::array<Index, inline_rank> inline_;
    Index* heap_;
  };
};

// "[2, 3]"; "[]" for a scalar.
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The shape that a and b take together by NumPy's rule: aligned at the last axis, sizes must be equal or one of them 1.
// Throws ShapeError that starts with `[operation]` and names both shapes.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* operation);

}  // namespace strata
