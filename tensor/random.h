// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "strata/tensor/tensor.h"

namespace strata {

// Where a stream of random numbers starts. Equal keys give equal numbers: draw once from a key, and make new ones with
// `split` or `fold_in`.
struct RandomKey {
  std::uint32_t high = 0;
  std::uint32_t low = 0;

  bool operator==(const RandomKey&) const = default;
};

}  // namespace strata

// Random numbers as functions of a key: those of jax.random (0.10, threefry_partitionable) for the same key. Keys,
// integers, and `uniform` in [0, 1) are the same to the last bit; other float32 numbers within 2 units in the last
// place (in `uniform`, of high - low), as JAX's own differ from CPU to CPU; orthogonal matrices within 1e-5. Ours do not
// depend on the number of threads and the instruction set. Except in `permutation` and `orthogonal`, an element depends on the key and on its place in row-major order
// alone, not on the shape. Numbers of other floating types are drawn in float32 and converted, which is not what JAX
// does.
//
// Source: Threefry-2x32 with 20 rounds, Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC11).
//
// Throw DTypeError if `dtype` is not one that the function can draw, ShapeError if there is no memory for the numbers.
namespace strata::random {

// The words 0 and `seed` modulo 2^32.
[[nodiscard]] RandomKey key(std::int64_t seed);

// A new key for each number: fold_in(key, step).
[[nodiscard]] RandomKey fold_in(RandomKey key, std::uint32_t data);

// `count` new keys; the first ones do not depend on `count`. Throws ValueError if it is negative.
[[nodiscard]] std::vector<RandomKey> split(RandomKey key, Index count);

// Uniform bits as uint8, uint16, uint32 or uint64.
[[nodiscard]] Tensor bits(RandomKey key, const Shape& shape, DType dtype = DType::uint32);

// Uniform in [low, high), in steps of (high - low) / 2^23; rounding may give `high` itself.
// Throws ValueError unless low <= high, and high - low is finite in float32.
[[nodiscard]] Tensor uniform(RandomKey key, const Shape& shape, double low = 0, double high = 1,
                             DType dtype = DType::float32);

// Of mean 0 and variance 1.
[[nodiscard]] Tensor normal(RandomKey key, const Shape& shape, DType dtype = DType::float32);

// Standard normal numbers on the condition that they fall between low and high; either may be infinite.
// Throws ValueError unless low < high in float32.
[[nodiscard]] Tensor truncated_normal(RandomKey key, const Shape& shape, double low, double high,
                                      DType dtype = DType::float32);

// Of density exp(-x - exp(-x)).
[[nodiscard]] Tensor gumbel(RandomKey key, const Shape& shape, DType dtype = DType::float32);

// Of mean 1.
[[nodiscard]] Tensor exponential(RandomKey key, const Shape& shape, DType dtype = DType::float32);

// bool, true with probability p. Throws ValueError unless 0 <= p <= 1.
[[nodiscard]] Tensor bernoulli(RandomKey key, const Shape& shape, double p);

// Integers in [low, high). Not quite uniform unless high - low is a power of two: off by a part in 2^32 at most (in
// 2^64 for 64-bit types), times high - low. Throws ValueError unless low < high and the range is one of `dtype`.
[[nodiscard]] Tensor randint(RandomKey key, const Shape& shape, Index low, Index high, DType dtype = DType::int32);

// The numbers 0 to count - 1 in random order, int64. Throws ValueError if count is negative.
[[nodiscard]] Tensor permutation(RandomKey key, Index count);

// Numbers of classes, int64, drawn with probabilities softmax(logits). logits is [*batch, classes]; `shape` is
// [*samples, *batch], by default [*batch]. Throws ShapeError if it does not end in the batch axes or there are no
// classes, DTypeError if logits are not floating.
[[nodiscard]] Tensor categorical(RandomKey key, const Tensor& logits);
[[nodiscard]] Tensor categorical(RandomKey key, const Tensor& logits, const Shape& shape);

// A matrix [rows, columns] with orthonormal columns, or rows if there are fewer rows than columns, uniformly
// distributed. Computed in float64. Throws ValueError if a size is negative.
[[nodiscard]] Tensor orthogonal(RandomKey key, Index rows, Index columns, DType dtype = DType::float32);

}  // namespace strata::random
