// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/tensor/compare.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/broadcast.h"
#include "strata/tensor/internal/operands.h"
#include "strata/tensor/internal/reduce.h"

namespace strata {
namespace {

// Elements are moved, not computed with: their width is all that matters. As a constant it makes a copy one load and
// one store.
template <Index Width>
void select(const internal::BroadcastLoops& loops, std::span<const bool> chosen, const std::byte* a, const std::byte* b,
            std::byte* out) {
  const internal::Offsets& steps = loops.steps();
  const Index size = loops.row_size();
  loops.for_each_row(0, loops.num_rows(), [&](Index row, const internal::Offsets& offsets) {
    for (Index i = 0; i < size; ++i) {
      const std::byte* from_a = a + (offsets[1] + i * steps[1]) * Width;
      const std::byte* from_b = b + (offsets[2] + i * steps[2]) * Width;
      const bool choice = chosen[static_cast<std::size_t>(offsets[0] + i * steps[0])];
      std::memcpy(out + (row * size + i) * Width, choice ? from_a : from_b, Width);
    }
  });
}

Tensor select(const Tensor& condition, const internal::Operand& a, const internal::Operand& b, DType dtype) {
  const Shape branches = broadcast_shapes(a.shape(), b.shape(), "where");
  Tensor out = Tensor::uninitialized(broadcast_shapes(condition.shape(), branches, "where"), dtype);
  if (out.size() == 0) return out;
  const std::array<const Shape*, 3> shapes{&condition.shape(), &a.shape(), &b.shape()};
  const internal::BroadcastLoops loops(out.shape(), shapes);
  const auto run = [&]<Index Width>(std::integral_constant<Index, Width>) {
    select<Width>(loops, condition.data<bool>(), a.data(), b.data(), out.mutable_bytes().data());
  };
  switch (size_in_bytes(dtype)) {
    case 1:
      run(std::integral_constant<Index, 1>());
      break;
    case 2:
      run(std::integral_constant<Index, 2>());
      break;
    case 4:
      run(std::integral_constant<Index, 4>());
      break;
    default:
      run(std::integral_constant<Index, 8>());
  }
  return out;
}

template <class A, class B>
Tensor choose(const Tensor& condition, const A& a, const B& b) {
  const DType dtype = internal::common_dtype(a, b);
  internal::require_fits(a, dtype, "where");
  internal::require_fits(b, dtype, "where");
  const Tensor truth = condition.astype(DType::boolean);
  const A x = internal::converted(a, dtype);
  const B y = internal::converted(b, dtype);
  Tensor result = select(truth, internal::operand(x, dtype), internal::operand(y, dtype), dtype);
  if (!internal::is_tracked(x) && !internal::is_tracked(y)) return result;
  if constexpr (std::is_same_v<A, Scalar>) {
    return differentiable(std::move(result), {y}, [truth, shape = y.shape()](const Tensor& dy) {
      return std::vector<Cotangent>{internal::sum_to_shape(where(truth, 0, dy), shape)};
    });
  } else if constexpr (std::is_same_v<B, Scalar>) {
    return differentiable(std::move(result), {x}, [truth, shape = x.shape()](const Tensor& dy) {
      return std::vector<Cotangent>{internal::sum_to_shape(where(truth, dy, 0), shape)};
    });
  } else {
    return differentiable(std::move(result), {x, y},
                          [truth, shape_x = x.shape(), shape_y = y.shape(), to_x = x.is_tracked(),
                           to_y = y.is_tracked()](const Tensor& dy) {
                            std::vector<Cotangent> gradients(2);
                            if (to_x) gradients[0] = internal::sum_to_shape(where(truth, dy, 0), shape_x);
                            if (to_y) gradients[1] = internal::sum_to_shape(where(truth, 0, dy), shape_y);
                            return gradients;
                          });
  }
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) { return choose(condition, a, b); }
Tensor where(const Tensor& condition, const Tensor& a, Scalar b) { return choose(condition, a, b); }
Tensor where(const Tensor& condition, Scalar a, const Tensor& b) { return choose(condition, a, b); }

}  // namespace strata
