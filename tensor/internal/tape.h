// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <vector>

#include "strata/tensor/gradient.h"

namespace strata::internal {

// While it exists, operations on this thread are noted only on tapes that were made since: a function that several
// threads call at once can record on tapes of its own, and reaching for a tensor that a tape around it watches is an
// error in every thread, not a race in some.
class RecordingScope {
 public:
  RecordingScope() noexcept;
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;
  ~RecordingScope();

  // The innermost one of this thread, or null.
  [[nodiscard]] static const RecordingScope* current() noexcept;

 private:
  const RecordingScope* outer_;
};

// The notes of one recording, in the order of the operations. A slot stands for one tracked tensor.
//
// A flat list, not a graph of nodes that own each other: walking and freeing it needs no recursion, however long a
// computation was, and what captured tensors hold of their tape is cut when the list is cleared.
class Tape {
 public:
  [[nodiscard]] bool recording() const noexcept { return recording_.load(std::memory_order_relaxed); }

  // Where the tape was made.
  [[nodiscard]] const RecordingScope* scope() const noexcept { return scope_; }

  Index add_slot(const Tensor& value);
  void add_node(Index first_output, std::size_t num_outputs, std::vector<Index> inputs, Backward backward);

  // Adds to the cotangent that run_backward begins from.
  static void seed(Cotangent& sum, const Tensor& cotangent);

  // Ends the recording. `cotangents` has one entry for each slot, to begin from; comes back with those of the slots
  // that are to be kept. The others are freed as soon as they were carried on.
  void run_backward(std::vector<Cotangent>& cotangents, const std::vector<bool>& keep);

  // Ends the recording and forgets the notes.
  void close() noexcept;

  [[nodiscard]] std::size_t num_slots() const noexcept { return slots_.size(); }

 private:
  struct Slot {
    Shape shape;
    DType dtype;
  };
  struct Node {
    std::size_t first_output;
    std::size_t num_outputs;
    std::vector<Index> inputs;  // slots; -1 for an input that is not tracked
    Backward backward;
  };

  static void check(const Cotangent& gradient, const Slot& slot);

  const RecordingScope* scope_ = RecordingScope::current();
  // Other threads that use a tensor of this tape ask too. Nothing else is handed over by it, hence relaxed.
  std::atomic<bool> recording_ = true;
  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
};

}  // namespace strata::internal
