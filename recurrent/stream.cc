// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stream.h"

#include <cstdio>
#include <cstdlib>

#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

Index checked_batch(Index batch) {
  if (batch > 0) return batch;
  throw ShapeError("[stream] the number of sequences must be positive, got " + std::to_string(batch) + ".");
}

void require_step_sizes(std::size_t in, Index expected_in, std::size_t out, Index expected_out) noexcept {
  if (static_cast<Index>(in) == expected_in && static_cast<Index>(out) == expected_out) return;
  std::fprintf(stderr,
               "[Stream::step] got %zu numbers and room for %zu, expected %lld and %lld. The program ends here, as a "
               "step cannot throw.\n",
               in, out, static_cast<long long>(expected_in), static_cast<long long>(expected_out));
  std::abort();
}

void check_stream_part(const std::string& part, const Tensor& got, const Tensor& expected) {
  const auto message = [&] {
    return "[Stream::set_state] part `" + part + "` of the carry is " + describe(got) + ", expected " +
           describe(expected) + ".";
  };
  if (got.shape() != expected.shape()) throw ShapeError(message());
  if (got.dtype() != expected.dtype()) throw DTypeError(message());
}

}  // namespace strata::recurrent::internal
