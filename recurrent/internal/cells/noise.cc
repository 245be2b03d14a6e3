// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/cells/noise.h"

#include <fmt/format.h>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

double checked_rate(double rate, const char* wrapper, const char* name) {
  if (rate >= 0 && rate <= 1) return rate;
  throw ValueError(fmt::format("[{}] {} is {}. Give a number in [0, 1].", wrapper, name, rate));
}

double checked_memory_rate(double rate, bool has_memory) {
  if (!has_memory && rate != 0) {
    throw ValueError(
        fmt::format("[Zoneout] the rate of c is {}, but the cell's carry has no part `c`. Leave it 0.", rate));
  }
  return checked_rate(rate, "Zoneout", "the rate of c");
}

std::optional<Tensor> draw_mask(const Shape& shape, DType dtype, double rate, RngStream& rngs) {
  if (rate == 0) return std::nullopt;
  if (rate == 1) return zeros(shape, dtype);
  return random::bernoulli(rngs.draw(), shape, 1 - rate).astype(dtype) / (1 - rate);
}

Tensor masked(const Tensor& x, const std::optional<Tensor>& mask) {
  if (!mask) return x;
  return is_floating(x.dtype()) ? (x * *mask).astype(x.dtype()) : x * *mask;
}

Tensor zone_out(const Tensor& before, const Tensor& after, double rate, bool deterministic, RngStream& rngs) {
  if (rate == 0) return after;
  if (!deterministic) return where(random::bernoulli(rngs.draw(), after.shape(), rate), before, after);
  return (before * rate + after * (1 - rate)).astype(after.dtype());
}

}  // namespace strata::recurrent::internal
