// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/gradient.h"

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/tape.h"
#include "strata/tensor/internal/tensor_access.h"

namespace strata {
namespace {

using internal::TensorAccess;

void check_cotangents(std::span<const Tensor> outputs, std::span<const Tensor> cotangents) {
  if (outputs.size() != cotangents.size()) {
    throw ValueError("[GradientTape::gradient] " + std::to_string(cotangents.size()) + " cotangents for " +
                     std::to_string(outputs.size()) + " outputs.");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].shape() != cotangents[i].shape() || outputs[i].dtype() != cotangents[i].dtype()) {
      throw ShapeError("[GradientTape::gradient] output " + std::to_string(i) + " is " + describe(outputs[i]) +
                       ", its cotangent " + describe(cotangents[i]) + ".");
    }
  }
}

// Ends the recording however the function that holds it is left.
struct Closing {
  internal::Tape& tape;
  ~Closing() { tape.close(); }
};

}  // namespace

bool Tensor::is_tracked() const noexcept {
  const std::shared_ptr<internal::Tape>& tape = body().tape.tape;
  return tape && tape->recording();
}

Tensor stop_gradient(const Tensor& x) { return TensorAccess::alias(x, 0, x.shape()); }

GradientTape::GradientTape() : tape_(std::make_shared<internal::Tape>()) {}

GradientTape::~GradientTape() { tape_->close(); }

Tensor GradientTape::watch(const Tensor& x) {
  if (!is_floating(x.dtype())) {
    throw DTypeError("[GradientTape::watch] gradients need a floating element type, got " + describe(x) + ".");
  }
  if (!tape_->recording()) throw GradientError("[GradientTape::watch] the recording has ended. Make a new tape.");
  if (x.is_tracked()) {
    throw GradientError(
        "[GradientTape::watch] the tensor is tracked already. Derivatives of derivatives are not supported.");
  }
  Tensor watched = stop_gradient(x);
  TensorAccess::set_tape(watched, {tape_, tape_->add_slot(x)});
  return watched;
}

std::vector<Tensor> GradientTape::gradient(const Tensor& loss, std::span<const Tensor> sources) {
  if (loss.rank() != 0 || !is_floating(loss.dtype())) {
    throw ShapeError("[GradientTape::gradient] the loss is not a floating scalar but " + describe(loss) +
                     ". Reduce it with sum or mean.");
  }
  const Tensor one = full_like(loss, 1.0);
  return gradient(std::span<const Tensor>(&loss, 1), std::span<const Tensor>(&one, 1), sources);
}

std::vector<Tensor> GradientTape::gradient(const Tensor& loss, std::initializer_list<Tensor> sources) {
  return gradient(loss, std::span<const Tensor>(sources.begin(), sources.size()));
}

std::vector<Tensor> GradientTape::gradient(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                                           std::span<const Tensor> sources) {
  check_cotangents(outputs, cotangents);
  if (!tape_->recording()) throw GradientError("[GradientTape::gradient] the recording has ended. Make a new tape.");
  for (const Tensor& source : sources) {
    if (TensorAccess::tape(source).tape != tape_) {
      throw GradientError("[GradientTape::gradient] a source " + describe(source) +
                          " is not tracked by this tape. Use what watch returned.");
    }
  }
  const Closing closing{*tape_};
  std::vector<Cotangent> all(tape_->num_slots());
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const internal::TapeSlot& place = TensorAccess::tape(outputs[i]);
    if (place.tape == tape_) tape_->seed(all[static_cast<std::size_t>(place.slot)], cotangents[i]);
  }
  std::vector<bool> keep(all.size());
  for (const Tensor& source : sources) keep[static_cast<std::size_t>(TensorAccess::tape(source).slot)] = true;
  tape_->run_backward(all, keep);
  for (const Tensor& source : sources) {
    Cotangent& gradient = all[static_cast<std::size_t>(TensorAccess::tape(source).slot)];
    result.push_back(gradient ? stop_gradient(*gradient) : full_like(source, 0.0));
  }
  return result;
}

}  // namespace strata
