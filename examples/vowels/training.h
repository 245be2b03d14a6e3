// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "classifier.h"
#include "dataset.h"

namespace vowels {

struct TrainingOptions {
  int epochs = 20;
  strata::Index batch_size = 30;
  double learning_rate = 3e-3;
  std::int64_t seed = 0;  // of the order of the utterances
  bool packed = false;    // the encoder reads utterances without padding
};

// How far training has come, told after every step.
struct Progress {
  int step = 0;
  int steps = 0;        // in all
  int epoch = 0;        // from 1
  double loss = 0;      // mean over the epoch so far
  double accuracy = 0;  // on the training set, over the epoch so far
  bool epoch_done = false;
};

// Trains the parameters, and nothing else, with AdamW; batch statistics follow the data on the way. Leaves the model in
// evaluation mode.
void train(Classifier& model, const Utterances& data, const TrainingOptions& options,
           const std::function<void(const Progress&)>& report);

// The speaker with the highest score for each utterance, int64 [utterance]. The model must be in evaluation mode.
[[nodiscard]] strata::Tensor predict(Classifier& model, const Utterances& data, bool packed);

// The share of predictions that are right.
[[nodiscard]] double accuracy(const strata::Tensor& predictions, const strata::Tensor& labels);

}  // namespace vowels
