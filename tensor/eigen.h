// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "strata/tensor/error.h"
#include "strata/tensor/tensor.h"

// Tensors as Eigen sees them, and Eigen's matrices as tensors. This is the one header of the library that includes
// Eigen.
namespace strata {

template <class T>
using RowMajorMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
using ColumnVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

// Numbers that Eigen computes with as well: not the two-byte floats.
template <class T>
concept EigenElement = Element<T> && std::is_arithmetic_v<T>;

namespace internal {

// Rows and columns of a tensor of rank 2; a vector is one row, a scalar is 1 x 1.
inline std::pair<Index, Index> matrix_sizes(const Tensor& t, const char* operation) {
  if (t.rank() > 2) {
    throw ShapeError("[" + std::string(operation) + "] a matrix has at most two axes, got " + describe(t) +
                     ". Use flatten or reshape.");
  }
  return {t.rank() == 2 ? t.size(0) : 1, t.rank() == 0 ? 1 : t.size(-1)};
}

inline void check_vector(const Tensor& t, const char* operation) {
  if (t.rank() != 1) {
    throw ShapeError("[" + std::string(operation) + "] a vector has one axis, got " + describe(t) +
                     ". Use flatten or reshape.");
  }
}

}  // namespace internal

// The elements of a tensor of rank 2 as a matrix, without copying. A vector is one row, a scalar 1 x 1. Holds as long
// as the elements: until t is assigned or destroyed and no copy of it is left. Throws ShapeError for a higher rank,
// DTypeError if the elements are not of type T.
template <EigenElement T>
[[nodiscard]] Eigen::Map<const RowMajorMatrix<T>> as_matrix(const Tensor& t) {
  const auto [rows, columns] = internal::matrix_sizes(t, "as_matrix");
  return {t.data<T>().data(), rows, columns};
}
template <EigenElement T>
Eigen::Map<const RowMajorMatrix<T>> as_matrix(const Tensor&& t) = delete;  // the elements may die with the temporary

// The same for writing; elements that t shares are copied first. Holds until t is copied, assigned or destroyed. Throws
// also GradientError if t is tracked.
template <EigenElement T>
[[nodiscard]] Eigen::Map<RowMajorMatrix<T>> as_mutable_matrix(Tensor& t) {
  const auto [rows, columns] = internal::matrix_sizes(t, "as_mutable_matrix");
  return {t.mutable_data<T>().data(), rows, columns};
}

// The elements of a tensor of rank 1 as a column, without copying; otherwise as as_matrix.
template <EigenElement T>
[[nodiscard]] Eigen::Map<const ColumnVector<T>> as_vector(const Tensor& t) {
  internal::check_vector(t, "as_vector");
  return {t.data<T>().data(), t.size()};
}
template <EigenElement T>
Eigen::Map<const ColumnVector<T>> as_vector(const Tensor&& t) = delete;

// The same for writing; otherwise as as_mutable_matrix.
template <EigenElement T>
[[nodiscard]] Eigen::Map<ColumnVector<T>> as_mutable_vector(Tensor& t) {
  internal::check_vector(t, "as_mutable_vector");
  return {t.mutable_data<T>().data(), t.size()};
}

// The value of an Eigen expression of any storage order: of rank 1 if it is a row or a column at compile time, else of
// rank 2.
template <class Derived>
requires EigenElement<typename Derived::Scalar>
[[nodiscard]] Tensor from_eigen(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  constexpr bool is_vector = Derived::IsVectorAtCompileTime;
  const Shape shape = is_vector ? Shape{expression.size()} : Shape{expression.rows(), expression.cols()};
  Tensor result = Tensor::uninitialized(shape, dtype_of<T>);
  Eigen::Map<Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      result.mutable_data<T>().data(), expression.rows(), expression.cols()) = expression.derived().array();
  return result;
}

// The elements of a row-major matrix or a vector, without copying; the tensor keeps it alive, and copies the elements
// before it writes. The matrix must not be changed while tensors see it. Throws ValueError if the pointer is null.
template <class M, class Matrix = std::remove_const_t<M>>
requires EigenElement<typename Matrix::Scalar> && std::derived_from<Matrix, Eigen::PlainObjectBase<Matrix>>
[[nodiscard]] Tensor view_of(std::shared_ptr<M> matrix) {
  constexpr bool is_vector = Matrix::IsVectorAtCompileTime;
  static_assert(is_vector || Matrix::IsRowMajor, "a tensor is row-major: use RowMajorMatrix, or copy with from_eigen");
  if (!matrix) throw ValueError("[view_of] the pointer is null.");
  Shape shape = is_vector ? Shape{matrix->size()} : Shape{matrix->rows(), matrix->cols()};
  const std::span<const typename Matrix::Scalar> elements(matrix->data(), static_cast<std::size_t>(matrix->size()));
  return Tensor::view(elements, std::move(shape), std::move(matrix));
}

}  // namespace strata
