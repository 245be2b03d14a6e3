// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stream.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

Index checked_batch(Index batch) {
  if (batch > 0) return batch;
  throw ShapeError("[stream] the number of sequences must be positive, got " + std::to_string(batch) + ".");
}

void check_cell_input(std::size_t cell, Index expected, Index got) {
  if (got == expected) return;
  throw ShapeError("[stream] cell " + std::to_string(cell) + " of the stack takes " + std::to_string(expected) +
                   " features, the one before puts out " + std::to_string(got) + ".");
}

void require_step_sizes(std::size_t in, Index expected_in, std::size_t out, Index expected_out) noexcept {
  if (static_cast<Index>(in) == expected_in && static_cast<Index>(out) == expected_out) return;
  std::fprintf(stderr,
               "[Stream::step] got %zu numbers and room for %zu, expected %lld and %lld. The program ends here, as a "
               "step cannot throw.\n",
               in, out, static_cast<long long>(expected_in), static_cast<long long>(expected_out));
  std::abort();
}

void check_stream_output(const Tensor& y) {
  if (y.is_tracked()) {
    throw GradientError(
        "[stream] a tape watches what the module computes with, and a stream computes no gradients. Make it outside of "
        "the recording.");
  }
  if (y.dtype() == DType::float32) return;
  throw DTypeError("[stream] the module's output is " + describe(y) +
                   ", expected float32. Give it parameters of that type.");
}

Tensor deep_copy(const Tensor& x) {
  Tensor copy = Tensor::uninitialized(x.shape(), x.dtype());
  const std::span<const std::byte> from = x.bytes();
  std::copy(from.begin(), from.end(), copy.mutable_bytes().begin());
  return copy;
}

}  // namespace strata::recurrent::internal
