// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "strata/nn/internal/observers.h"
#include "strata/recurrent/cell.h"
#include "strata/recurrent/internal/scan/recompute.h"
#include "strata/recurrent/internal/scan/scan_start.h"
#include "strata/recurrent/internal/streams/stream_checks.h"
#include "strata/tensor/create.h"
#include "strata/tensor/internal/recycler.h"

// Any module step by step in real time, by operations on tensors whose memory is used again and again.
namespace strata::recurrent {

// A module that goes step by step, such as a network around a cell:
//
//   struct Tracker {
//     using Carry = rnn::LSTMCarry;
//     nn::Linear in;
//     rnn::LSTMCell cell;
//     Carry initial_carry(const Shape& input) const;                    // for inputs [*batch, *features]
//     rnn::Step<Carry> step(const Carry& carry, const Tensor& x) const;
//     STRATA_FIELDS(in, cell)
//   };
template <class M>
concept SteppingModule = requires(const M& module, const typename M::Carry& carry, const Tensor& x) {
  { module.step(carry, x) } -> std::same_as<Step<typename M::Carry>>;
  { module.initial_carry(x.shape()) } -> std::same_as<typename M::Carry>;
};

// A module, or any cell, that advances with inputs of one shape, one step a call. Outputs and carries are those of the
// same operations elsewhere, bit for bit: of recurrent::scan where that goes step by step.
//
// The constructor takes a few steps over zeros, on the side, and with them all memory that a step needs. Steps after it
// allocate nothing as long as they do the same operations on the same shapes and element types, and leave no tensors
// behind; what a module does with containers of its own is its own affair. They take no lock: a step runs on its thread
// alone. They throw nothing: what a module throws in a step ends the program, and so does a carry of another form.
//
// Streams of one module may step in different threads, and one stream in one thread after another: they share its
// parameters, if it is const-callable, and else have a copy each. What becomes of the module afterwards does not
// matter. It runs in the mode it is in (see nn::eval); what a cell fixes for a sequence holds for the whole stream.
template <class M>
requires SteppingModule<M> || SelfStartingCell<M>
class ModuleStream {
  static constexpr bool is_shareable = SteppingModule<M> || Cell<const M>;

 public:
  using Carry = typename M::Carry;

  // `input` is the shape of x at each step, [*batch, *features]. Throws what the module throws in the first steps;
  // DTypeError if its outputs are not float32, GradientError if a tape watches its parameters, ShapeError or DTypeError
  // if it returns a carry of another form than the initial one.
  ModuleStream(const M& module, const Shape& input)
      : ModuleStream(std::make_shared<Held>(internal::copy_of_cell(module)), input, Exclusive()) {}

  // Shares the module, which must not change any more.
  ModuleStream(std::shared_ptr<const M> module, const Shape& input) requires(is_shareable)
      : ModuleStream(std::move(module), input, Exclusive()) {}

  [[nodiscard]] const Shape& input_shape() const noexcept { return input_; }
  [[nodiscard]] const Shape& output_shape() const noexcept { return output_; }

  // One step: `in` has the elements of an input, `out` gets those of the output, float32 in row-major order; they must
  // not overlap. A span of another size ends the program, with a message on the standard error stream.
  void step(std::span<const float> in, std::span<float> out) noexcept {
    internal::require_step_sizes(in.size(), input_.num_elements(), out.size(), output_.num_elements());
    // Whoever captures values around a step knows nothing of the stream's module.
    const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
    const strata::internal::RecyclingScope recycling(*recycler_);
    Tensor x = Tensor::uninitialized(input_, DType::float32);
    std::copy(in.begin(), in.end(), x.mutable_data<float>().begin());
    Step<Carry> step = advance(*module_, x);
    const std::span<const float> y = step.y.template data<float>();
    internal::require_step_sizes(in.size(), input_.num_elements(), y.size(), output_.num_elements());
    check_form(step.carry, internal::CarryCheck{"Stream::step", "carry that the module returned"});
    std::copy(y.begin(), y.end(), out.begin());
    carry_ = std::move(step.carry);
  }

  // The carry after the last step.
  [[nodiscard]] Carry state() const { return copied(carry_); }

  // Goes on from this carry. Throws ShapeError or DTypeError, naming the part, if it is not what state() returns.
  // Allocates nothing, save for long names of parts of nested carries.
  void set_state(const Carry& carry) {
    check_form(carry, internal::stream_carry_check);
    const strata::internal::RecyclingScope recycling(*recycler_);
    // Not the caller's memory: the steps would keep it, and with every state that is set more.
    carry_ = copied(carry);
  }

  // Begins anew. Allocates nothing.
  void reset() noexcept {
    const strata::internal::RecyclingScope recycling(*recycler_);
    carry_ = initial_;
  }

 private:
  using Held = std::conditional_t<is_shareable, const M, M>;
  struct Exclusive {};

  ModuleStream(std::shared_ptr<Held> module, const Shape& input, Exclusive)
      : module_(std::move(module)), input_(input), recycler_(std::make_unique<strata::internal::Recycler>()) {
    initial_ = module_->initial_carry(input_);
    if constexpr (!SteppingModule<M>) sequence_ = begin_sequence(*module_, initial_, input_);
    carry_ = initial_;
    take_memory();
  }

  // Takes steps that leave no trace but the memory they needed.
  void take_memory() {
    const nn::internal::ObserverScope unobserved(nn::internal::Observers{});
    const strata::internal::RecyclingScope recycling(*recycler_);
    if constexpr (is_shareable) {
      take_steps(*module_);
    } else {
      Held aside = internal::copy_of_cell(*module_);
      take_steps(aside);
    }
    for (int i = 0; i < 2; ++i) carry_ = copied(carry_);  // of a state that is set while there is another one
    carry_ = initial_;
  }

  void take_steps(Held& module) {
    constexpr int steps = 3;  // the first makes what the second releases; the third meets what every later one does
    for (int i = 0; i < steps; ++i) {
      Step<Carry> step = advance(module, zeros(input_));
      internal::check_stream_output(step.y);
      check_form(step.carry, internal::CarryCheck{"stream", "carry that the module returned"});
      output_ = step.y.shape();
      carry_ = std::move(step.carry);
    }
  }

  void check_form(const Carry& carry, const internal::CarryCheck& check) const {
    if (!internal::same_form(carry, initial_)) internal::for_each_tensor(check, "", carry, initial_);
  }

  Step<Carry> advance(Held& module, const Tensor& x) const {
    if constexpr (SteppingModule<M>) {
      return module.step(carry_, x);
    } else {
      return recurrent::step(module, carry_, x, sequence_);
    }
  }

  static Carry copied(Carry carry) {
    internal::for_each_tensor([](const std::string&, Tensor& part) { part = internal::deep_copy(part); }, "", carry);
    return carry;
  }

  std::shared_ptr<Held> module_;
  Shape input_;
  Shape output_;
  std::unique_ptr<strata::internal::Recycler> recycler_;
  Carry initial_;
  Carry carry_;
  typename internal::SequenceType<M>::type sequence_;
};

// A stream of any module or cell:
//
//   auto stream = rnn::stream(tracker, {1, 12});
//   stream.step(input, output);
template <class M>
requires SteppingModule<M> || SelfStartingCell<M>
[[nodiscard]] ModuleStream<M> stream(const M& module, const Shape& input) { return ModuleStream<M>(module, input); }

// Streams of one module that share it.
template <class M>
requires SteppingModule<M> || SelfStartingCell<M>
[[nodiscard]] ModuleStream<M> stream(std::shared_ptr<const M> module, const Shape& input) {
  return ModuleStream<M>(std::move(module), input);
}

}  // namespace strata::recurrent
