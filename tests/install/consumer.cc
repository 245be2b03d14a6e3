// SPDX-License-Identifier: Apache-2.0
// A user's program: composes a model, splits its state, trains one step, saves and restores.
#include <strata/strata.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace nn = strata::nn;
namespace rnn = strata::recurrent;
using strata::BatchStat, strata::Param, strata::Tensor;

struct Classifier {
  rnn::Bidirectional<rnn::LSTMCell> encoder;
  nn::BatchNorm norm;
  nn::Dropout dropout;
  nn::Linear head;

  Classifier(int channels, int hidden, int classes, strata::Rngs& rngs)
      : encoder{rnn::LSTMCell(channels, hidden, rngs), rnn::LSTMCell(channels, hidden, rngs)},
        norm(2 * hidden, rngs),
        dropout(0.2, rngs),
        head(2 * hidden, classes, rngs) {}

  Tensor operator()(const Tensor& x, const Tensor& lengths) {
    auto [carry, y] = encoder.scan(x, {.seq_lengths = lengths});
    return head(dropout(norm(strata::concatenate({carry.forward.h, carry.backward.h}, -1))));
  }
  STRATA_FIELDS(encoder, norm, dropout, head)
};

int main() {
  strata::Rngs rngs(0);
  Classifier model(12, 8, 9, rngs);
  auto [graph, params, stats, others] =
      nn::split(model, strata::of_type<Param>, strata::of_type<BatchStat>, strata::rest);
  Classifier same = nn::merge(graph, params, stats, others);

  const Tensor x = strata::ones({4, 5, 12});
  const Tensor lengths = strata::tensor<std::int32_t>({5, 3, 1, 4});
  const Tensor labels = strata::tensor<std::int32_t>({0, 1, 2, 3});

  nn::train(same);
  strata::optim::Optimizer optimizer(same, strata::optim::adamw(1e-3), strata::of_type<Param>);
  auto step = nn::value_and_grad([&](Classifier& m) { return nn::softmax_cross_entropy(m(x, lengths), labels); },
                                 strata::of_type<Param>);
  auto [loss, grads] = step(same);
  optimizer.update(same, grads);
  nn::eval(same);

  const std::string file = "consumer.msgpack";
  strata::checkpoint::save(file, nn::state(same));
  nn::update(model, strata::checkpoint::restore(file));
  if (!(nn::state(model) == nn::state(same))) return EXIT_FAILURE;
  std::cout << loss << "\n";
  return EXIT_SUCCESS;
}
