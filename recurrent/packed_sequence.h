// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

namespace strata::recurrent {

// How a packed sequence is laid out with padding.
struct PaddedOptions {
  Scalar value = 0;                // what stands behind a sequence's last step
  std::optional<Index> time = {};  // by default that of the longest sequence
  bool time_major = false;         // [time, *batch, *features] instead of [*batch, time, *features]
};

// A batch of sequences of unequal length without padding: their steps, one sequence behind the other in the caller's
// order. Layers that take it run over the real steps alone and give back a packed sequence of the same lengths;
// whatever treats every step by itself may run on its data:
//
//   auto [carry, y] = rnn.scan(PackedSequence::from_padded(x, lengths));
//   Tensor logits = head(y.data());   // [total_steps, classes]
//
// Conversions are differentiable.
class PackedSequence {
 public:
  // data is [total_steps, *features], lengths are integers [*batch] with the sum total_steps. Throws ShapeError if data
  // has no axis of steps, DTypeError if lengths are not integers, ValueError if one is negative or their sum differs.
  PackedSequence(Tensor data, const Tensor& lengths);

  // The first lengths[b] steps of each sequence of x, [*batch, time, *features] or time-major. Throws ShapeError if the
  // lengths are not [*batch] or x has no axis of time, DTypeError if they are not integers, ValueError if one is not in
  // [0, time].
  [[nodiscard]] static PackedSequence from_padded(const Tensor& x, const Tensor& lengths, bool time_major = false);

  // Sequences [time, *features], each of its own time; the batch is [n]. Throws ValueError if there are none,
  // ShapeError if their features differ.
  [[nodiscard]] static PackedSequence from_list(std::span<const Tensor> sequences);

  [[nodiscard]] const Tensor& data() const noexcept { return data_; }        // [total_steps, *features]
  [[nodiscard]] const Tensor& lengths() const noexcept { return lengths_; }  // int64 [*batch]
  [[nodiscard]] const Shape& batch() const noexcept { return lengths_.shape(); }
  [[nodiscard]] Index total_steps() const noexcept { return data_.size(0); }
  [[nodiscard]] Index max_length() const noexcept { return max_length_; }

  // Sequences of the same lengths with other features. Throws ShapeError unless data has total_steps() entries.
  [[nodiscard]] PackedSequence with_data(Tensor data) const;

  // The same of f(data()), for functions of single steps.
  template <std::invocable<const Tensor&> F>
  [[nodiscard]] PackedSequence map(F&& f) const {
    return with_data(std::forward<F>(f)(data_));
  }

  // Throws ValueError if `time` is less than the longest sequence.
  [[nodiscard]] Tensor padded(const PaddedOptions& options = {}) const;

  // The sequences as tensors [length, *features], in row-major order of the batch.
  [[nodiscard]] std::vector<Tensor> list() const;

 private:
  Tensor data_;
  Tensor lengths_;
  Index max_length_;
};

}  // namespace strata::recurrent
