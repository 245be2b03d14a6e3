// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <iterator>
#include <optional>
#include <string>

#include "strata/recurrent/cell.h"
#include "strata/tensor/gradient.h"

namespace strata::recurrent {

// Some consecutive steps of a batch of sequences, [begin, end) of the whole.
struct Chunk {
  Tensor x;
  std::optional<Tensor> seq_lengths;  // how many of its steps are valid, int64 [*batch]
  std::optional<Tensor> mask;         // or which of them run
  std::optional<Tensor> resets;
  Index begin;
  Index end;
};

struct ChunkOptions {
  std::optional<Tensor> seq_lengths = {};  // integers [*batch] in [0, time]
  std::optional<Tensor> mask = {};         // instead: bool [*batch, time], or as x has them
  std::optional<Tensor> resets = {};       // bool [*batch, time], or as x has them
  int num_batch_dims = 1;                  // how many axes of x are batch axes
  bool time_major = false;                 // the time axis comes first, before the batch axes
};

// A long sequence in chunks, to train on one after the other while the carry goes on (truncated back-propagation): a
// range of Chunk. A chunk's tensors are made when it is asked for.
//
//   auto carry = cell.initial_carry(...);
//   for (const Chunk& chunk : chunks(x, 50, {.seq_lengths = lengths})) {
//     ... scan(cell, chunk.x, {.seq_lengths = chunk.seq_lengths, .initial_carry = stop_gradient(carry)}) ...
//   }
//
// A sequence that has ended in an earlier chunk has length 0 in later ones and keeps its carry. Carries and the outputs
// of valid steps are then those of one scan over the whole, bit for bit; so are outputs over padding that are zero, but
// not those that are computed from it or repeated. A flag at a step that the mask skips moves to the next one that
// runs, in whatever chunk. With resets, pass the carry that episodes begin with as `reset_carry`, since the initial one
// is not it any more. Scans in reverse cannot go on from chunk to chunk in this order; run them, and so a
// Bidirectional, over the whole with `checkpoint_every`.
class Chunks {
 public:
  // Throws ShapeError if x has no time axis or lengths, mask or resets do not fit, DTypeError if their types do not,
  // ValueError if a length is not in [0, time], there are both lengths and a mask, or `steps` is not positive.
  Chunks(Tensor x, Index steps, ChunkOptions options = {});

  [[nodiscard]] Index size() const noexcept { return time_ / steps_ + (time_ % steps_ != 0 ? 1 : 0); }

  // Throws ValueError if there is no such chunk.
  [[nodiscard]] Chunk operator[](Index index) const;

  class Iterator {
   public:
    using value_type = Chunk;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Chunks* chunks, Index index) : chunks_(chunks), index_(index) {}

    Chunk operator*() const { return (*chunks_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Chunks* chunks_ = nullptr;
    Index index_ = 0;
  };

  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  Tensor x_;
  ChunkOptions options_;
  Index steps_;
  int time_axis_;
  Index time_;
};

[[nodiscard]] inline Chunks chunks(const Tensor& x, Index steps, const ChunkOptions& options = {}) {
  return {x, steps, options};
}

// A carry whose history is forgotten: what comes later has no gradient to what was before.
template <class Carry>
requires(!std::same_as<Carry, Tensor>) [[nodiscard]] Carry stop_gradient(const Carry& carry) {
  Carry result = carry;
  const auto stop = [](const std::string&, Tensor& part) { part = strata::stop_gradient(part); };
  internal::for_each_tensor(stop, "", result);
  return result;
}

}  // namespace strata::recurrent
