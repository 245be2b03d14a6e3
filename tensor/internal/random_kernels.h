// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "strata/tensor/random.h"

// Draws of the words `first`, `first + 1`, ... of a key, one for each element of `out`. `first` is a multiple of 64.
namespace strata::internal {

// A range of draws, and the numbers that they are cut to after they are transformed.
struct DrawRange {
  float low = 0;
  float high = 1;
  float least = 0;
  float greatest = 0;
};

void draw_words(RandomKey key, std::uint64_t first, std::span<std::uint32_t> out);
void draw_uniform(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out);

// sqrt(2) erfinv(u), u uniform in [low, high), cut to [least, greatest].
void draw_normal(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out);

// -log(-log(u)), u uniform in [low, high).
void draw_gumbel(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out);

// -log(1 - u), u uniform in [low, high).
void draw_exponential(RandomKey key, std::uint64_t first, const DrawRange& range, std::span<float> out);

}  // namespace strata::internal
