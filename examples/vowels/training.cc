// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <algorithm>

namespace vowels {
namespace {

using strata::Index;
using strata::Tensor;
namespace nn = strata::nn;

Index count_right(const Tensor& predictions, const Tensor& labels) {
  return strata::sum(strata::equal(predictions, labels)).item<Index>();
}

Tensor scores_of(Classifier& model, const Utterances& data, bool packed) {
  if (packed) return model(rnn::PackedSequence::from_padded(data.frames, data.lengths));
  return model(data.frames, data.lengths);
}

}  // namespace

void train(Classifier& model, const Utterances& data, const TrainingOptions& options,
           const std::function<void(const Progress&)>& report) {
  nn::train(model);
  strata::optim::Optimizer optimizer(model, strata::optim::adamw(options.learning_rate),
                                     strata::of_type<strata::Param>);
  const auto step = nn::value_and_grad(
      [&](Classifier& m, const Utterances& batch) {
        const Tensor scores = scores_of(m, batch, options.packed);
        return std::pair(nn::softmax_cross_entropy(scores, batch.labels), strata::stop_gradient(scores));
      },
      strata::of_type<strata::Param>);

  const Index batches = (data.size() + options.batch_size - 1) / options.batch_size;
  Progress progress{.steps = static_cast<int>(batches) * options.epochs};
  strata::RngStream orders("order", strata::random::key(options.seed));
  for (progress.epoch = 1; progress.epoch <= options.epochs; ++progress.epoch) {
    const Tensor order = strata::random::permutation(orders.draw(), data.size());
    double loss_sum = 0;
    Index right = 0;
    for (Index first = 0; first < data.size(); first += options.batch_size) {
      const Index last = std::min(first + options.batch_size, data.size());
      const Utterances batch = data.select(order.slice(first, last));
      const auto [value, grads] = step(model, batch);
      optimizer.update(model, grads);
      loss_sum += value.first.item<double>() * static_cast<double>(last - first);
      right += count_right(strata::argmax(value.second, -1), batch.labels);
      ++progress.step;
      progress.loss = loss_sum / static_cast<double>(last);
      progress.accuracy = static_cast<double>(right) / static_cast<double>(last);
      progress.epoch_done = last == data.size();
      report(progress);
    }
  }
  nn::eval(model);
}

Tensor predict(Classifier& model, const Utterances& data, bool packed) {
  return strata::argmax(scores_of(model, data, packed), -1);
}

double accuracy(const Tensor& predictions, const Tensor& labels) {
  return static_cast<double>(count_right(predictions, labels)) / static_cast<double>(labels.size());
}

}  // namespace vowels
