// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/cells/noise.h"
#include "strata/recurrent/internal/scan/fused.h"
#include "strata/recurrent/noise.h"

namespace strata::recurrent {

// With what probability an element of a carry's parts is kept as it was.
struct ZoneoutRates {
  double c = 0;  // of cells that have a memory
  double h = 0;
};

// Lets elements of the carry skip a step: in training mode each keeps its old value with the probability given for its
// part, by a mask drawn at every step; in evaluation mode (`deterministic`) the new value is the mean of that,
// rate * old + (1 - rate) * new. Both parts are computed from what the cell makes of the whole old carry.
//
// For cells whose output is the part h of their carry; the output is the h that is carried on.
//
// Source: Krueger et al., "Zoneout" (2017).
template <Cell C>
requires requires(typename C::Carry& carry) { carry.h; }
struct Zoneout {
  using Carry = typename C::Carry;
  using Sequence = SequenceOf<C>;
  static constexpr int num_feature_axes = C::num_feature_axes;
  static constexpr bool has_memory = requires(Carry & carry) { carry.c; };

  // Forks the stream `rng_collection` of streams, or `default`. Throws ValueError if a rate is not in [0, 1], or that
  // of c is not 0 though the cell has no c.
  Zoneout(C inner, ZoneoutRates rates, Rngs& streams, const NoiseOptions& options = {})
      : cell(std::move(inner)),
        c_rate(internal::checked_memory_rate(rates.c, has_memory)),
        h_rate(internal::checked_rate(rates.h, "Zoneout", "the rate of h")),
        deterministic(options.deterministic),
        rngs(streams.stream(options.rng_collection).fork()) {}

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x) {
    return (*this)(carry, x, begin_sequence(carry, x.shape()));
  }

  [[nodiscard]] Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence) {
    Step<Carry> result = step(cell, carry, x, sequence);
    if constexpr (has_memory) {
      result.carry.c = internal::zone_out(carry.c, result.carry.c, c_rate, deterministic, rngs);
    }
    result.carry.h = internal::zone_out(carry.h, result.carry.h, h_rate, deterministic, rngs);
    result.y = result.carry.h;
    return result;
  }

  [[nodiscard]] Sequence begin_sequence(const Carry& initial, const Shape& input) {
    return recurrent::begin_sequence(cell, initial, input);
  }

  [[nodiscard]] Carry initial_carry(const Shape& input) const requires SelfStartingCell<C> {
    return cell.initial_carry(input);
  }

  // That of the cell if both rates are 0.
  [[nodiscard]] std::optional<internal::FusedCell> fused() const requires internal::FusableCell<C> {
    return c_rate == 0 && h_rate == 0 ? cell.fused() : std::nullopt;
  }

  C cell;
  double c_rate;
  double h_rate;
  bool deterministic;
  RngStream rngs;

  STRATA_FIELDS(cell, c_rate, h_rate, deterministic, rngs)
};

}  // namespace strata::recurrent
