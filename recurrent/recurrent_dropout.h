// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/cells/noise.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/recurrent/noise.h"

namespace strata::recurrent {

struct RecurrentDropoutRates {
  double recurrent = 0;  // of h in the products with recurrent kernels
  double input = 0;      // of x
};

// Dropout with one mask for all steps of a sequence, and another one for the next: elements of h where it enters the
// products with recurrent kernels, and elements of x, are 0 with the probability given, and the others divided by 1 -
// rate. One mask serves all gates. What a GRU passes on of h itself is left alone.
//
// In evaluation mode (`deterministic`), or with rates of 0, it is the cell as it is. Standard cells run as one fused
// operation in both modes.
//
// It stands directly around a cell that has `step_with_h`; other wrappers go around it. The masks are part of the
// sequence (see cell.h), not of the module; they are drawn at its beginning, that for h first.
//
// Source: Gal and Ghahramani (2016), with tied masks.
template <RecurrentProductCell C>
struct RecurrentDropout {
  using Carry = typename C::Carry;
  using Sequence = DropoutMasks;
  static constexpr int num_feature_axes = C::num_feature_axes;

  // Forks the stream `rng_collection` of streams, or `default`. Throws ValueError if a rate is not in [0, 1].
  RecurrentDropout(C inner, RecurrentDropoutRates rates, Rngs& streams, const NoiseOptions& options = {})
      : cell(std::move(inner)),
        recurrent_rate(internal::checked_rate(rates.recurrent, "RecurrentDropout", "the rate of h")),
        input_rate(internal::checked_rate(rates.input, "RecurrentDropout", "the rate of x")),
        deterministic(options.deterministic),
        rngs(streams.stream(options.rng_collection).fork()) {}

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    return cell.step_with_h(carry, internal::masked(x, sequence.x), internal::masked(carry.h, sequence.h));
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& initial, const Shape& input) {
    if (deterministic) return {};
    const DType dtype = initial.h.dtype();
    return {internal::draw_mask(initial.h.shape(), dtype, recurrent_rate, rngs),
            internal::draw_mask(input, dtype, input_rate, rngs)};
  }

  [[nodiscard]] Carry initial_carry(const Shape& input) const requires SelfStartingCell<C> {
    return cell.initial_carry(input);
  }

  [[nodiscard]] std::optional<internal::FusedCell> fused() const requires internal::FusableCell<C> {
    std::optional<internal::FusedCell> fused = cell.fused();
    const bool is_masked = !deterministic && (recurrent_rate != 0 || input_rate != 0);
    // The operation takes a residual h for a part of the product.
    if (!fused || (is_masked && fused->residual)) return std::nullopt;
    fused->is_masked = is_masked;
    return fused;
  }

  C cell;
  double recurrent_rate;
  double input_rate;
  bool deterministic;
  RngStream rngs;

  STRATA_FIELDS(cell, recurrent_rate, input_rate, deterministic, rngs)
};

}  // namespace strata::recurrent
