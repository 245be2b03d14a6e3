// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/linear_algebra.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/gemm.h"
#include "strata/tensor/internal/recycler.h"

namespace strata {
namespace {

using internal::GemmOptions;

// For each product of a batch, the number of the matrix it takes. Left empty where that is 0, 1, 2, ...
using Selection = internal::List<Index>;

Index pick(const Selection& selection, Index product) {
  return selection.empty() ? product : selection[static_cast<std::size_t>(product)];
}

// `count` products C[i] = A[a[i]] B[b[i]], where A holds matrices [n, k], B [k, m] and C [n, m].
struct Plan {
  Index count = 1;
  Index n = 1;
  Index k = 1;
  Index m = 1;
  Selection a;
  Selection b;
};

// Matrices in memory, one after the other, and which of them each product takes.
template <class T>
struct Matrices {
  T* data;
  Index rows;
  Index columns;
  const Selection& selection;

  [[nodiscard]] Index elements() const { return rows * columns; }
  [[nodiscard]] T* at(Index product) const { return data + pick(selection, product) * elements(); }

  // The distance between the matrices of neighbouring products, if it is the same for all.
  [[nodiscard]] std::optional<Index> step() const {
    if (selection.empty()) return elements();
    const bool is_shared = std::all_of(selection.begin(), selection.end(), [](Index i) { return i == 0; });
    return is_shared ? std::optional<Index>(0) : std::nullopt;
  }
};

// to[i] (+)= op(a[i]) op(b[i]). [m, n, k] are the sizes of op(a) [m, k] and op(b) [k, n]. Where products share a matrix
// that is written to, it must be zero at first, and they are added in their order.
template <class T>
void multiply(Index count, Index inner, Matrices<const T> a, Matrices<const T> b, Matrices<T> to, GemmOptions options) {
  const std::optional<Index> a_step = a.step();
  const std::optional<Index> b_step = b.step();
  if (a_step && b_step && to.selection.empty()) {
    internal::batched_gemm(count, {*a_step, *b_step, to.elements()}, to.rows, to.columns, inner, a.data, a.columns,
                           b.data, b.columns, to.data, to.columns, options);
    return;
  }
  options.accumulate = !to.selection.empty();
  for (Index i = 0; i < count; ++i) {
    internal::gemm(to.rows, to.columns, inner, a.at(i), a.columns, b.at(i), b.columns, to.at(i), to.columns, options);
  }
}

// The same for element types without a fast product: integers, which wrap around, and bool.
template <class T>
void multiply_simply(const Plan& plan, const T* a, const T* b, T* to) {
  std::fill_n(to, plan.count * plan.n * plan.m, T{});
  for (Index product = 0; product < plan.count; ++product) {
    const T* left = a + pick(plan.a, product) * plan.n * plan.k;
    const T* right = b + pick(plan.b, product) * plan.k * plan.m;
    for (Index row = 0; row < plan.n; ++row, to += plan.m) {
      for (Index p = 0; p < plan.k; ++p) {
        const T factor = left[row * plan.k + p];
        for (Index column = 0; column < plan.m; ++column) {
          const T other = right[p * plan.m + column];
          if constexpr (std::is_same_v<T, bool>) {
            to[column] = to[column] || (factor && other);
          } else {
            to[column] = static_cast<T>(static_cast<std::uint64_t>(to[column]) +
                                        static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(other));
          }
        }
      }
    }
  }
}

Tensor multiplied(const Plan& plan, const Tensor& a, const Tensor& b, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape, a.dtype());
  if (result.size() == 0) return result;
  dispatch(a.dtype(), [&]<class T>(T) {
    T* to = result.mutable_data<T>().data();
    if constexpr (std::is_floating_point_v<T>) {
      const Selection all;
      multiply<T>(plan.count, plan.k, {a.data<T>().data(), plan.n, plan.k, plan.a},
                  {b.data<T>().data(), plan.k, plan.m, plan.b}, {to, plan.n, plan.m, all}, {});
    } else if constexpr (std::is_integral_v<T>) {
      multiply_simply(plan, a.data<T>().data(), b.data<T>().data(), to);
    }
  });
  return result;
}

// Where a gradient is written. Products that share a matrix are added up, and without any product it stays zero.
Tensor gradient_target(const Plan& plan, const Selection& selection, const Shape& shape, DType dtype) {
  return selection.empty() && plan.count != 0 ? Tensor::uninitialized(shape, dtype) : zeros(shape, dtype);
}

// dA[a[i]] += dC[i] B[b[i]]^T, without forming the transpose.
Tensor left_gradient(const Plan& plan, const Tensor& dy, const Tensor& b, const Shape& shape) {
  Tensor da = gradient_target(plan, plan.a, shape, dy.dtype());
  if (da.size() == 0) return da;
  dispatch(dy.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const Selection all;
      multiply<T>(plan.count, plan.m, {dy.data<T>().data(), plan.n, plan.m, all},
                  {b.data<T>().data(), plan.k, plan.m, plan.b}, {da.mutable_data<T>().data(), plan.n, plan.k, plan.a},
                  {.transpose_b = true});
    }
  });
  return da;
}

// dB[b[i]] += A[a[i]]^T dC[i].
Tensor right_gradient(const Plan& plan, const Tensor& dy, const Tensor& a, const Shape& shape) {
  Tensor db = gradient_target(plan, plan.b, shape, dy.dtype());
  if (db.size() == 0) return db;
  dispatch(dy.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const Selection all;
      multiply<T>(plan.count, plan.n, {a.data<T>().data(), plan.n, plan.k, plan.a},
                  {dy.data<T>().data(), plan.n, plan.m, all}, {db.mutable_data<T>().data(), plan.k, plan.m, plan.b},
                  {.transpose_a = true});
    }
  });
  return db;
}

// Which matrix of an operand with these batch axes each product of the common batch takes.
Selection selection(const Shape& own, const Shape& common) {
  if (own == common || own.num_elements() == common.num_elements()) return {};
  Selection result{0};
  Index matrices = 1;
  for (int from_end = 1; from_end <= common.rank(); ++from_end) {
    const Index size = common[-from_end];
    const bool moves = from_end <= own.rank() && own[-from_end] != 1;
    Selection wider;
    for (Index i = 0; i < size; ++i) {
      for (const Index inner : result) wider.push_back(inner + (moves ? i * matrices : 0));
    }
    if (moves) matrices *= size;
    result = std::move(wider);
  }
  return result;
}

Shape batch_axes(const Tensor& t) { return t.rank() <= 2 ? Shape{} : t.shape().axes(0, t.rank() - 2); }

void check_inner_sizes(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    throw ShapeError("[matmul] an operand is a scalar: " + describe(a) + " and " + describe(b) + ". Use *.");
  }
  const Index left = a.size(-1);
  const Index right = b.size(b.rank() == 1 ? 0 : -2);
  if (left != right) {
    throw ShapeError("[matmul] shapes do not fit: " + describe(a) + " and " + describe(b) + ". The last axis of the " +
                     "first has " + std::to_string(left) + " entries, that of the second which it meets " +
                     std::to_string(right) + ".");
  }
}

Shape common_batch(const Tensor& a, const Tensor& b) {
  if (b.rank() <= 2) return batch_axes(a);
  try {
    return broadcast_shapes(batch_axes(a), batch_axes(b), "matmul");
  } catch (const ShapeError&) {
    throw ShapeError("[matmul] batch axes do not broadcast: " + describe(a) + " and " + describe(b) +
                     ". Sizes of axes before the last two, aligned at their end, must be equal or 1.");
  }
}

Shape result_shape(const Tensor& a, const Tensor& b, const Shape& batch) {
  std::array<Index, 2> sizes{};
  std::size_t rank = 0;
  if (a.rank() > 1) sizes[rank++] = a.size(-2);
  if (b.rank() > 1) sizes[rank++] = b.size(-1);
  const Shape matrix(std::span<const Index>(sizes.data(), rank));
  return batch.rank() == 0 ? matrix : batch.append(matrix);
}

Plan make_plan(const Tensor& a, const Tensor& b, const Shape& batch) {
  Plan plan;
  plan.k = a.size(-1);
  plan.n = a.rank() > 1 ? a.size(-2) : 1;
  plan.m = b.rank() > 1 ? b.size(-1) : 1;
  const Shape b_batch = batch_axes(b);
  if (b_batch.num_elements() == 1) {
    plan.n *= batch.num_elements();
    return plan;
  }
  plan.count = batch.num_elements();
  plan.a = selection(batch_axes(a), batch);
  plan.b = selection(b_batch, batch);
  return plan;
}

Tensor multiply_same_type(const Tensor& a, const Tensor& b) {
  check_inner_sizes(a, b);
  const Shape batch = common_batch(a, b);
  const Plan plan = make_plan(a, b, batch);
  Tensor result = multiplied(plan, a, b, result_shape(a, b, batch));
  if (!a.is_tracked() && !b.is_tracked()) return result;
  const Cotangent kept_a = b.is_tracked() ? Cotangent(a) : std::nullopt;
  const Cotangent kept_b = a.is_tracked() ? Cotangent(b) : std::nullopt;
  return differentiable(
      std::move(result), {a, b}, [plan, kept_a, kept_b, a_shape = a.shape(), b_shape = b.shape()](const Tensor& dy) {
        return std::vector<Cotangent>{kept_b ? Cotangent(left_gradient(plan, dy, *kept_b, a_shape)) : std::nullopt,
                                      kept_a ? Cotangent(right_gradient(plan, dy, *kept_a, b_shape)) : std::nullopt};
      });
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  const DType computing = computing_dtype(dtype);
  return multiply_same_type(a.astype(computing), b.astype(computing)).astype(dtype);
}

}  // namespace strata
