// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/elementwise.h"

#include <algorithm>
#include <cstring>

#include "strata/tensor/internal/broadcast.h"
#include "strata/tensor/thread_pool.h"

namespace strata::internal {
namespace {

constexpr Index elements_per_chunk = 1 << 16;  // some tens of microseconds of work: what pays to hand to another thread

}  // namespace

const Shape Operand::number_shape;

Operand::Operand(const Tensor& x) : shape_(&x.shape()), data_(x.bytes().data()) {}

Operand::Operand(Scalar x, DType dtype) : shape_(&number_shape) {
  dispatch(dtype, [&]<class T>(T) {
    const T value = x.as<T>();
    std::memcpy(number_, &value, sizeof(T));
  });
}

void run_binary(BinaryRow row, const Operand& a, const Operand& b, int width, Tensor& out) {
  if (out.size() == 0) return;
  std::byte* const to = out.mutable_bytes().data();
  const Index out_width = size_in_bytes(out.dtype());
  const std::array<const Shape*, 2> shapes{&a.shape(), &b.shape()};
  const BroadcastLoops loops(out.shape(), shapes);
  const Index step_a = loops.steps()[0];
  const Index step_b = loops.steps()[1];
  const Index size = loops.row_size();
  if (loops.num_rows() == 1) {
    parallel_for(0, size, elements_per_chunk, [&](Index begin, Index end) {
      row(a.data() + begin * step_a * width, step_a, b.data() + begin * step_b * width, step_b, to + begin * out_width,
          end - begin);
    });
    return;
  }
  parallel_for(0, loops.num_rows(), std::max<Index>(1, elements_per_chunk / size), [&](Index begin, Index end) {
    loops.for_each_row(begin, end, [&](Index r, const Offsets& offsets) {
      row(a.data() + offsets[0] * width, step_a, b.data() + offsets[1] * width, step_b, to + r * size * out_width,
          size);
    });
  });
}

Tensor run_unary(UnaryRow row, const Tensor& x) {
  Tensor result = Tensor::uninitialized(x.shape(), x.dtype());
  const std::byte* const from = x.bytes().data();
  std::byte* const to = result.mutable_bytes().data();
  const Index width = size_in_bytes(x.dtype());
  parallel_for(0, x.size(), elements_per_chunk,
               [&](Index begin, Index end) { row(from + begin * width, to + begin * width, end - begin); });
  return result;
}

}  // namespace strata::internal
