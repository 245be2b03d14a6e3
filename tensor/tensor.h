// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/dtype.h"
#include "strata/tensor/internal/tensor_body.h"
#include "strata/tensor/shape.h"

namespace strata {

namespace internal {

struct TensorAccess;

}  // namespace internal

// A value: a dense, row-major array of run-time rank and element type.
//
// Copies share the elements and cost O(1); writing to shared elements copies them first, so that no write is ever seen
// through another tensor. A slice of the leading axis shares the elements too. A tensor made by operations on tensors
// that a GradientTape watches is tracked: it remembers how it was computed (see gradient.h).
//
// Different tensors may be used in different threads, also where they share elements.
class Tensor {
 public:
  // float32 of shape [0].
  Tensor() = default;

  // The given elements in row-major order. Throws ShapeError if their number is not that of the shape.
  template <Element T>
  Tensor(std::span<const T> values, Shape shape)
      : Tensor(dtype_of<T>, std::move(shape), values.data(), values.size()) {}

  // Uninitialised elements, to be filled through mutable_data. Throws ShapeError, as everything that makes a tensor
  // does, if there is no memory for them.
  [[nodiscard]] static Tensor uninitialized(const Shape& shape, DType dtype);

  // A read-only view of memory that `owner` keeps alive; nothing is copied until the tensor is written to.
  template <Element T>
  [[nodiscard]] static Tensor view(std::span<const T> values, Shape shape, std::shared_ptr<const void> owner) {
    return view_bytes(dtype_of<T>, std::move(shape), values.data(), values.size(), std::move(owner));
  }

  Tensor(const Tensor&) noexcept = default;
  Tensor(Tensor&&) noexcept = default;
  // To lvalues only: `t[0] = x` would change a temporary; write t.set(0, x).
  Tensor& operator=(const Tensor&) & noexcept = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  ~Tensor() = default;

  [[nodiscard]] const Shape& shape() const noexcept { return body().shape; }
  [[nodiscard]] DType dtype() const noexcept { return body().dtype; }
  [[nodiscard]] int rank() const noexcept { return shape().rank(); }
  [[nodiscard]] Index size() const noexcept { return shape().num_elements(); }
  [[nodiscard]] Index size(int axis) const { return shape()[axis]; }
  [[nodiscard]] std::size_t num_bytes() const noexcept;

  // The elements in row-major order. Throws DTypeError if they are not of type T.
  template <Element T>
  [[nodiscard]] std::span<const T> data() const& {
    return {static_cast<const T*>(typed(dtype_of<T>)), static_cast<std::size_t>(size())};
  }
  template <Element T>
  [[nodiscard]] std::span<const T> data() const&& = delete;  // the elements may die with the temporary

  // The elements for writing; shared ones are copied first. The span holds until this tensor is copied, assigned or
  // destroyed. Throws DTypeError if the elements are not of type T, GradientError if the tensor is tracked.
  template <Element T>
  [[nodiscard]] std::span<T> mutable_data() & {
    return {static_cast<T*>(mutable_typed(dtype_of<T>)), static_cast<std::size_t>(size())};
  }

  [[nodiscard]] std::span<const std::byte> bytes() const&;
  [[nodiscard]] std::span<const std::byte> bytes() const&& = delete;
  [[nodiscard]] std::span<std::byte> mutable_bytes() &;

  // The only element, converted to T. Throws ShapeError if there is not exactly one.
  template <Element T>
  [[nodiscard]] T item() const {
    return dispatch(dtype(), [&]<class S>(S) { return convert_element<T>(*static_cast<const S*>(single_element())); });
  }

  // One element by its position, converted to T; negative positions count from the end of their axis.
  // Throws ShapeError if the number of positions is not the rank, ValueError if one is out of range.
  template <Element T>
  [[nodiscard]] T at(std::initializer_list<Index> position) const {
    return dispatch(dtype(), [&]<class S>(S) { return convert_element<T>(*static_cast<const S*>(element(position))); });
  }

  // Entry `index` of the leading axis, without copying; a negative index counts from the end. Differentiable.
  // Throws ShapeError for a scalar, ValueError if the index is out of range.
  [[nodiscard]] Tensor operator[](Index index) const;

  // Entries [begin, end) of the leading axis, without copying; negative positions count from the end. Differentiable.
  [[nodiscard]] Tensor slice(Index begin, Index end) const;

  // Writes `value`, of the shape and element type of (*this)[index], to that entry; `value` may be a slice of this
  // tensor.
  void set(Index index, const Tensor& value) &;

  // The same elements in another shape, without copying; one size may be -1 and is worked out. Differentiable.
  [[nodiscard]] Tensor reshape(std::initializer_list<Index> sizes) const;
  [[nodiscard]] Tensor reshape(const Shape& shape) const;

  // Elements converted: to bool by "is not zero", to integers towards zero and saturated (NaN becomes 0). The same
  // tensor if the type is the same. Differentiable between floating types; other conversions stop the gradient.
  [[nodiscard]] Tensor astype(DType dtype) const;

  // True if the tensor was computed from one that a recording GradientTape watches.
  [[nodiscard]] bool is_tracked() const noexcept;

  // True if both share the same elements (position, number and memory): what a copy does until one of them is written
  // to.
  [[nodiscard]] bool shares_elements_with(const Tensor& other) const noexcept;

 private:
  friend struct internal::TensorAccess;

  Tensor(DType dtype, Shape shape, const void* elements, std::size_t count);
  static Tensor view_bytes(DType dtype, Shape shape, const void* elements, std::size_t count,
                           std::shared_ptr<const void> owner);
  [[nodiscard]] const void* typed(DType dtype) const;
  [[nodiscard]] void* mutable_typed(DType dtype);
  [[nodiscard]] const void* single_element() const;
  [[nodiscard]] const void* element(std::initializer_list<Index> position) const;

  explicit Tensor(std::shared_ptr<internal::TensorBody> body) noexcept : body_(std::move(body)) {}
  [[nodiscard]] const internal::TensorBody& body() const noexcept { return body_ ? *body_ : internal::empty_body(); }
  [[nodiscard]] bool owns_elements() const noexcept;

  std::shared_ptr<internal::TensorBody> body_;  // null for float32 of shape [0]
};

// A tensor of rank 1 with these elements: tensor({1.0f, 2.0f}).
template <Element T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> values) {
  return Tensor(std::span<const T>(values.begin(), values.size()), Shape{static_cast<Index>(values.size())});
}

// A tensor of the given shape with these elements in row-major order: tensor({1, 2, 3, 4}, {2, 2}).
template <Element T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> values, Shape shape) {
  return Tensor(std::span<const T>(values.begin(), values.size()), std::move(shape));
}

template <Element T>
[[nodiscard]] Tensor tensor(const std::vector<T>& values, Shape shape) {
  return Tensor(std::span<const T>(values), std::move(shape));
}

// A tensor of rank 0.
template <Element T>
[[nodiscard]] Tensor scalar(T value) {
  return Tensor(std::span<const T>(&value, 1), Shape{});
}

// True if shape, element type and every byte agree: NaN equals the same NaN, 0.0 differs from -0.0.
[[nodiscard]] bool identical(const Tensor& a, const Tensor& b);

// "float32[2, 3]": what error messages say of a tensor.
[[nodiscard]] std::string describe(const Tensor& tensor);

// The elements as nested lists, long axes abbreviated, then the element type and shape.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace strata
