// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/tape.h"

#include <algorithm>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/tensor_access.h"

namespace strata::internal {
namespace {

void add_in_place(Tensor& sum, const Tensor& term) {
  dispatch(sum.dtype(), [&]<class T>(T) {
    const std::span<T> to = sum.mutable_data<T>();
    const std::span<const T> from = term.data<T>();
    if constexpr (std::is_floating_point_v<T>) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    } else {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = convert_element<T>(convert_element<float>(to[i]) + convert_element<float>(from[i]));
      }
    }
  });
}

void accumulate(Cotangent& sum, Cotangent gradient) {
  if (!gradient) return;
  if (sum) {
    add_in_place(*sum, *gradient);
  } else {
    sum = std::move(gradient);
  }
}

thread_local const RecordingScope* current_scope = nullptr;

}  // namespace

RecordingScope::RecordingScope() noexcept : outer_(current_scope) { current_scope = this; }
RecordingScope::~RecordingScope() { current_scope = outer_; }
const RecordingScope* RecordingScope::current() noexcept { return current_scope; }

Index Tape::add_slot(const Tensor& value) {
  slots_.push_back({value.shape(), value.dtype()});
  return static_cast<Index>(slots_.size()) - 1;
}

void Tape::add_node(Index first_output, std::size_t num_outputs, std::vector<Index> inputs, Backward backward) {
  nodes_.push_back({static_cast<std::size_t>(first_output), num_outputs, std::move(inputs), std::move(backward)});
}

void Tape::run_backward(std::vector<Cotangent>& cotangents, const std::vector<bool>& keep) {
  recording_.store(false, std::memory_order_relaxed);
  while (!nodes_.empty()) {
    const Node node = std::move(nodes_.back());
    nodes_.pop_back();  // what the operation kept is freed as soon as it was used
    const std::span<const Cotangent> outputs(cotangents.data() + node.first_output, node.num_outputs);
    if (std::none_of(outputs.begin(), outputs.end(), [](const Cotangent& c) { return c.has_value(); })) continue;
    std::vector<Cotangent> gradients = node.backward(outputs);
    for (std::size_t slot = node.first_output; slot < node.first_output + node.num_outputs; ++slot) {
      if (!keep[slot]) cotangents[slot].reset();
    }
    if (gradients.size() != node.inputs.size()) {
      throw GradientError("[differentiable] the backward function returned " + std::to_string(gradients.size()) +
                          " gradients for " + std::to_string(node.inputs.size()) + " inputs.");
    }
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      const auto slot = static_cast<std::size_t>(node.inputs[i]);
      check(gradients[i], slots_[slot]);
      accumulate(cotangents[slot], std::move(gradients[i]));
    }
  }
}

void Tape::check(const Cotangent& gradient, const Slot& slot) {
  if (!gradient || (gradient->shape() == slot.shape && gradient->dtype() == slot.dtype)) return;
  throw GradientError("[differentiable] the backward function returned a gradient " + describe(*gradient) +
                      " for an input " + std::string(name(slot.dtype)) + to_string(slot.shape) + ".");
}

void Tape::seed(Cotangent& sum, const Tensor& cotangent) { accumulate(sum, cotangent); }

void Tape::close() noexcept {
  recording_.store(false, std::memory_order_relaxed);
  nodes_ = {};
  slots_ = {};
}

void record(std::span<Tensor> outputs, std::span<const std::reference_wrapper<const Tensor>> inputs,
            Backward backward) {
  if (outputs.empty()) return;
  std::shared_ptr<Tape> tape;
  std::vector<Index> slots;
  slots.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    const TapeSlot& place = TensorAccess::tape(input);
    const bool tracked = input.is_tracked();
    slots.push_back(tracked ? place.slot : -1);
    if (!tracked) continue;
    if (tape && tape != place.tape) {
      throw GradientError(
          "[GradientTape] an operation takes tensors that two recording tapes watch. Derivatives of "
          "derivatives are not supported; stop_gradient makes one of them a constant.");
    }
    tape = place.tape;
  }
  if (tape->scope() != RecordingScope::current()) {
    throw GradientError(
        "[GradientTape] a function that is called for each member takes a tensor that is watched outside of it. Pass "
        "the tensor as an argument, or stop_gradient makes it a constant.");
  }
  Index first = -1;
  for (Tensor& output : outputs) {
    const Index slot = tape->add_slot(output);
    if (first < 0) first = slot;
    TensorAccess::set_tape(output, {tape, slot});
  }
  tape->add_node(first, outputs.size(), std::move(slots), std::move(backward));
}

}  // namespace strata::internal
