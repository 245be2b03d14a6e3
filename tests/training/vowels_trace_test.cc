// SPDX-License-Identifier: Apache-2.0
//
// 27 steps of training, recorded from Flax, optax and JAX (tests/golden/japanese_vowels/generate_trace.py), done here
// again: the same losses, gradients, parameters, running statistics and predictions.
#include <gtest/gtest.h>
#include <strata/strata.h>

#include <map>
#include <string>

#include "support/safetensors.h"

namespace strata {
namespace {

constexpr Index hidden = 8;
constexpr Index longest = 29;
constexpr Index num_channels = 12;

struct Net {
  recurrent::Bidirectional<recurrent::LSTMCell> rnn;
  nn::BatchNorm bn;
  nn::Linear out;

  Net(DType dtype, Rngs& rngs)
      : rnn{recurrent::LSTMCell{num_channels, hidden, rngs, {.param_dtype = dtype}},
            recurrent::LSTMCell{num_channels, hidden, rngs, {.param_dtype = dtype}}},
        bn{2 * hidden, rngs, {.momentum = 0.9, .param_dtype = dtype}},
        out{2 * hidden, 9, rngs, {.param_dtype = dtype}} {
    // The recorded run in float64 keeps its running statistics in float64 too.
    bn.mean.reset(bn.mean.value().astype(dtype));
    bn.var.reset(bn.var.value().astype(dtype));
  }

  Tensor operator()(const Tensor& x, const Tensor& lengths) {
    const auto [carry, y] = rnn.scan(x, {.seq_lengths = lengths});
    return out(bn(concatenate({carry.forward.h, carry.backward.h}, -1)));
  }
  STRATA_FIELDS(rnn, bn, out)
};

struct Bounds {
  double loss;
  double gradient;
  double parameter;
  double logit;
};

using Arrays = std::map<std::string, Tensor>;

Arrays load(const char* file) {
  return support::load_safetensors(std::string(STRATA_GOLDEN_DIR) + "/japanese_vowels/" + file);
}

Tensor padded(const Arrays& data, const std::string& part, DType dtype) {
  const Tensor& frames = data.at(part + "_frames");
  const Tensor& lengths = data.at(part + "_lengths");
  std::vector<Tensor> rows;
  Index first = 0;
  for (const int length : lengths.data<int>()) {
    rows.push_back(pad(frames.slice(first, first + length), {{0, longest - length}, {0, 0}}));
    first += length;
  }
  return stack(rows, 0).astype(dtype);
}

State start_state(const Arrays& trace, DType dtype) {
  State state;
  const std::string prefix = "start/";
  for (const auto& [name, value] : trace) {
    if (name.starts_with(prefix)) state.set(Path::parse(name.substr(prefix.size())), Variable(value.astype(dtype)));
  }
  return state;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  return max(abs(a.astype(DType::float64) - b.astype(DType::float64))).item<double>();
}

void expect_close(const State& state, const Arrays& trace, const std::string& prefix, double bound) {
  for (const auto& [path, variable] : state) {
    EXPECT_LE(largest_difference(variable, trace.at(prefix + to_string(path))), bound) << prefix << path;
  }
}

void expect_same_run(DType dtype, const std::string& prefix, const Bounds& bounds) {
  const Arrays trace = load("train_trace.safetensors");
  const Arrays data = load("japanese_vowels.safetensors");
  const Tensor x = padded(data, "train", dtype);

  Rngs rngs(0);
  Net net(dtype, rngs);
  nn::update(net, start_state(trace, dtype));
  nn::train(net);
  optim::Optimizer optimizer(net, optim::adam(3e-3), of_type<Param>);
  const auto step = nn::value_and_grad(
      [&](Net& m, const Tensor& batch) {
        const Tensor logits = m(take(x, batch, 0), take(data.at("train_lengths"), batch, 0));
        return nn::softmax_cross_entropy(logits, take(data.at("train_labels"), batch, 0));
      },
      of_type<Param>);
  const Tensor& order = trace.at("batch_indices");
  for (Index i = 0; i < order.size(0); ++i) {
    const auto [loss, grads] = step(net, order[i]);
    EXPECT_NEAR(loss.item<double>(), trace.at(prefix + "losses").at<double>({i}), bounds.loss) << "step " << i;
    if (i == 0) expect_close(grads, trace, prefix + "first_grad/", bounds.gradient);
    optimizer.update(net, grads);
  }
  nn::eval(net);
  expect_close(nn::state(net), trace, prefix + "end/", bounds.parameter);
  const Tensor logits = net(padded(data, "test", dtype), data.at("test_lengths"));
  EXPECT_LE(largest_difference(logits, trace.at(prefix + "test_logits")), bounds.logit);
}

// An independent float64 implementation reproduces the recording to 2e-15; float32 runs differ by the rounding of 27
// steps.
TEST(VowelsTrace, Float64RunIsTheRecordedOne) { expect_same_run(DType::float64, "f64/", {1e-12, 1e-12, 1e-12, 1e-12}); }
TEST(VowelsTrace, Float32RunIsTheRecordedOne) { expect_same_run(DType::float32, "f32/", {1e-4, 1e-5, 1e-4, 1e-3}); }

}  // namespace
}  // namespace strata
