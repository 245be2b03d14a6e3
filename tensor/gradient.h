// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strata/tensor/tensor.h"

// Reverse-mode differentiation.
//
// A tape watches some tensors; every operation that takes a tracked tensor returns tracked ones and leaves a note on
// the tape of how to carry a gradient back. User code in between is ordinary C++: branches, loops, recursion. Where
// nothing is watched, nothing is noted and nothing is allocated.
namespace strata {

// The gradient of the loss with respect to one output of an operation; empty where the output did not matter to the
// loss.
using Cotangent = std::optional<Tensor>;

// Carries cotangents of an operation's outputs back to its inputs: takes one for each output (at least one not empty)
// and returns one for each input, of that input's shape and element type, or empty for "none". It computes on plain
// values: tensors that it captured are not tracked while it runs.
using Backward = std::function<std::vector<Cotangent>(std::span<const Cotangent>)>;

// The same for an operation of one output, whose cotangent it takes as a tensor.
using BackwardOfOne = std::function<std::vector<Cotangent>(const Tensor&)>;

template <class F>
concept BackwardFunction = std::convertible_to<F, Backward>;
template <class F>
concept BackwardOfOneFunction = std::convertible_to<F, BackwardOfOne>;

// Records what is computed from the tensors it watches, until `gradient` is called or it goes out of scope. Tensors
// that outlive the recording keep their values and are no longer tracked.
//
//   GradientTape tape;
//   Tensor x = tape.watch(tensor({1.0, 2.0}));
//   Tensor loss = sum(x * x);
//   Tensor dx = tape.gradient(loss, {x})[0];   // [2, 4]
//
// One tape is for one thread; different tapes may record in different threads. Derivatives of derivatives are not
// supported: a tracked tensor cannot be watched by a second tape, and an operation on tensors of two recording tapes
// throws GradientError.
class GradientTape {
 public:
  GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;
  ~GradientTape();

  // x, tracked. Throws DTypeError if x is not floating, GradientError if it is tracked already or the recording has
  // ended.
  [[nodiscard]] Tensor watch(const Tensor& x);

  // Ends the recording and returns the gradients of the scalar `loss` with respect to tracked tensors, each of the
  // shape and element type of its source; zeros where the loss does not depend on it. Throws ShapeError if loss is not
  // a floating scalar, GradientError if a source was not tracked by this tape or the recording had ended.
  [[nodiscard]] std::vector<Tensor> gradient(const Tensor& loss, std::span<const Tensor> sources);
  [[nodiscard]] std::vector<Tensor> gradient(const Tensor& loss, std::initializer_list<Tensor> sources);

  // The same for any outputs, given the gradient of some loss with respect to each of them (of equal shape and type).
  [[nodiscard]] std::vector<Tensor> gradient(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                                             std::span<const Tensor> sources);

 private:
  std::shared_ptr<internal::Tape> tape_;
};

// x with its history forgotten: operations see a constant.
[[nodiscard]] Tensor stop_gradient(const Tensor& x);

// The only way an operation becomes differentiable, open to users: `outputs` are values computed from `inputs` by any
// means, `backward` says how gradients flow from the one to the other. If no input is tracked the outputs are returned
// as they are, and `backward` is not even copied.
//
//   Tensor cube(const Tensor& x) {
//     Tensor y = evaluate_somehow(x);
//     return differentiable(y, {x}, [x](const Tensor& dy) { return std::vector<Cotangent>{dy * x * x * 3}; });
//   }
template <BackwardFunction F>
[[nodiscard]] std::vector<Tensor> differentiable(std::vector<Tensor> outputs, std::span<const Tensor> inputs,
                                                 F&& backward);

// The same for one output.
template <BackwardOfOneFunction F>
[[nodiscard]] Tensor differentiable(Tensor output, std::initializer_list<std::reference_wrapper<const Tensor>> inputs,
                                    F&& backward);

namespace internal {

// Notes on the tape of the tracked inputs (at least one) that outputs come from inputs; makes the outputs tracked.
void record(std::span<Tensor> outputs, std::span<const std::reference_wrapper<const Tensor>> inputs, Backward backward);

}  // namespace internal

template <BackwardFunction F>
std::vector<Tensor> differentiable(std::vector<Tensor> outputs, std::span<const Tensor> inputs, F&& backward) {
  bool tracked = false;
  for (const Tensor& input : inputs) tracked = tracked || input.is_tracked();
  if (tracked) {
    const std::vector<std::reference_wrapper<const Tensor>> references(inputs.begin(), inputs.end());
    internal::record(outputs, references, std::forward<F>(backward));
  }
  return outputs;
}

template <BackwardOfOneFunction F>
Tensor differentiable(Tensor output, std::initializer_list<std::reference_wrapper<const Tensor>> inputs, F&& backward) {
  bool tracked = false;
  for (const Tensor& input : inputs) tracked = tracked || input.is_tracked();
  if (tracked) {
    internal::record(
        std::span<Tensor>(&output, 1), {inputs.begin(), inputs.size()},
        [f = std::forward<F>(backward)](std::span<const Cotangent> cotangents) { return f(*cotangents[0]); });
  }
  return output;
}

}  // namespace strata
