// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "strata/nn/internal/reduction.h"
#include "strata/nn/losses.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

constexpr const char* operation = "softmax_cross_entropy";

// For each example, the position of its label's element among those of the logits, in row-major order.
std::vector<std::size_t> label_positions(const Shape& logits, int axis, const Tensor& labels) {
  const Index classes = logits[axis];
  const Index inner = logits.axes(axis + 1, logits.rank()).num_elements();
  std::vector<std::size_t> positions;
  positions.reserve(static_cast<std::size_t>(labels.size()));
  Index example = 0;
  strata::internal::for_each_integer(labels, [&](auto label) {
    if (std::cmp_less(label, 0) || std::cmp_greater_equal(label, classes)) {
      throw ValueError(fmt::format("[{}] label {} of example {} is not the number of a class: there are {}.", operation,
                                   label, example, classes));
    }
    const Index row = example / inner * classes + static_cast<Index>(label);
    positions.push_back(static_cast<std::size_t>(row * inner + example % inner));
    ++example;
  });
  return positions;
}

// Calls f with the C++ type of a floating element type that is computed in.
template <class F>
void dispatch_float(DType dtype, F f) {
  if (dtype == DType::float64) {
    f(double{});
  } else {
    f(float{});
  }
}

// The losses of integer labels; logits are float32 or float64.
Tensor loss_of_classes(const Tensor& logits, const Tensor& labels, int axis) {
  if (labels.shape() != logits.shape().without_axis(axis)) {
    throw ShapeError(
        fmt::format("[{}] logits are {}, labels {}; integer labels have the shape of the logits without "
                    "axis {}: {}.",
                    operation, describe(logits), describe(labels), axis, to_string(logits.shape().without_axis(axis))));
  }
  std::vector<std::size_t> positions = label_positions(logits.shape(), axis, labels);
  const Tensor log_probabilities = log_softmax(stop_gradient(logits), axis);
  Tensor losses = Tensor::uninitialized(labels.shape(), logits.dtype());
  dispatch_float(logits.dtype(), [&]<class T>(T) {
    const std::span<const T> from = log_probabilities.data<T>();
    T* loss = losses.mutable_data<T>().data();
    for (const std::size_t position : positions) *loss++ = -from[position];
  });
  if (!logits.is_tracked()) return losses;
  return differentiable(std::move(losses), {logits},
                        [log_probabilities, axis, positions = std::move(positions)](const Tensor& dy) {
                          Tensor dlogits = exp(log_probabilities);
                          dispatch_float(dlogits.dtype(), [&]<class T>(T) {
                            const std::span<T> to = dlogits.mutable_data<T>();
                            for (const std::size_t position : positions) to[position] -= 1;
                          });
                          dlogits *= expand_dims(dy, axis);
                          return std::vector<Cotangent>{std::move(dlogits)};
                        });
}

// The losses of probabilities, of the type of the logits.
Tensor loss_of_probabilities(const Tensor& logits, const Tensor& labels, int axis) {
  if (labels.shape() != logits.shape()) {
    throw ShapeError(
        fmt::format("[{}] logits are {}, labels {}; floating labels are probabilities of the shape of the "
                    "logits. Numbers of classes are integers.",
                    operation, describe(logits), describe(labels)));
  }
  const Tensor p = stop_gradient(labels);
  const Tensor log_probabilities = log_softmax(stop_gradient(logits), axis);
  Tensor losses = -sum(p * log_probabilities, axis);
  return differentiable(std::move(losses), {logits, labels}, [p, log_probabilities, axis](const Tensor& dy) {
    const Tensor each = expand_dims(dy, axis);
    const Tensor total = sum(p, axis, {.keep_dims = true});
    return std::vector<Cotangent>{each * (exp(log_probabilities) * total - p), -(each * log_probabilities)};
  });
}

}  // namespace

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const SoftmaxLossOptions& options) {
  if (!is_floating(logits.dtype())) {
    throw DTypeError(
        fmt::format("[{}] logits are {}; they must be floating. Convert with astype.", operation, describe(logits)));
  }
  if (labels.dtype() == DType::boolean) {
    throw DTypeError(
        fmt::format("[{}] labels are bool; they are integers, or probabilities. Convert with astype.", operation));
  }
  const int axis = logits.shape().normalize_axis(options.axis, operation);
  const bool are_classes = is_integer(labels.dtype());
  const DType result = are_classes ? logits.dtype() : promote(logits.dtype(), labels.dtype());
  const DType computing = computing_dtype(result);
  const Tensor losses = are_classes ? loss_of_classes(logits.astype(computing), labels, axis)
                                    : loss_of_probabilities(logits.astype(computing), labels.astype(computing), axis);
  return internal::reduced(losses, options.reduction).astype(result);
}

}  // namespace strata::nn
