// SPDX-License-Identifier: Apache-2.0
// Files that PyTorch and Flax users make, read and run here: the models give the same numbers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "strata/strata.h"
#include "support/compare.h"

namespace strata {
namespace {

using recurrent::WeightLayout;
using support::difference;
using support::within;

constexpr double float32_rounding = 1e-6;

std::string file(const char* name) { return std::string(STRATA_GOLDEN_DIR) + "/weights/" + name; }

State expected() { return checkpoint::restore_safetensors(file("expected.safetensors")); }

// torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True) and torch.nn.Linear(8, 2).
struct Tagger {
  using Layer = recurrent::Bidirectional<recurrent::LSTMCell>;
  std::vector<Layer> encoder;
  nn::Linear head;

  explicit Tagger(Rngs& rngs)
      : encoder{{recurrent::LSTMCell{3, 4, rngs}, recurrent::LSTMCell{3, 4, rngs}},
                {recurrent::LSTMCell{8, 4, rngs}, recurrent::LSTMCell{8, 4, rngs}}},
        head{8, 2, rngs} {}

  Tensor operator()(const Tensor& x, const Tensor& lengths) {
    Tensor y = x;
    for (Layer& layer : encoder) {
      y = layer(y, {.seq_lengths = lengths, .padding_output = recurrent::PaddingOutput::zero});
    }
    return head(y);
  }

  STRATA_FIELDS(encoder, head)
};

TEST(FilesOfOthers, AStackOfPyTorchAmongOtherLayers) {
  Rngs rngs(0);
  Tagger tagger(rngs);
  const State weights = checkpoint::restore_safetensors(file("tagger.safetensors"));
  recurrent::load_weights(tagger.encoder, weights, WeightLayout::pytorch, {.prefix = "encoder"});
  tagger.head.kernel.set_value(transpose(weights.at({"head", "weight"})));
  tagger.head.bias->set_value(weights.at({"head", "bias"}));
  const State data = expected();
  EXPECT_EQ(difference(tagger(data.at({"x"}), data.at({"lengths"})), data.at({"tagger"}), within(float32_rounding)),
            "");
}

TEST(FilesOfOthers, AGruOfPyTorchInNumPysFormat) {
  Rngs rngs(0);
  recurrent::RNN gru(recurrent::GRUCell{3, 4, rngs, {.recurrent_bias = true}});
  recurrent::load_weights(gru, checkpoint::restore_npz(file("gru.npz")), WeightLayout::pytorch);
  const State data = expected();
  EXPECT_EQ(difference(gru(data.at({"x"})), data.at({"gru"}), within(float32_rounding)), "");
}

TEST(FilesOfOthers, ABidirectionalOfLinen) {
  Rngs rngs(0);
  recurrent::Bidirectional<recurrent::LSTMCell> lstm{recurrent::LSTMCell{3, 4, rngs}, recurrent::LSTMCell{3, 4, rngs}};
  recurrent::load_weights(lstm, checkpoint::restore_npz(file("linen.npz"), {.separator = "/"}),
                          WeightLayout::flax_linen);
  const State data = expected();
  EXPECT_EQ(difference(lstm(data.at({"x"})), data.at({"linen"}), within(float32_rounding)), "");
}

TEST(FilesOfOthers, ALayerOfNnxIsAStateOfOurs) {
  Rngs rngs(0);
  recurrent::RNN gru(recurrent::GRUCell{3, 4, rngs});
  const State weights = checkpoint::restore_safetensors(file("nnx.safetensors"));
  nn::update(gru, weights);
  const State data = expected();
  EXPECT_EQ(difference(gru(data.at({"x"})), data.at({"nnx"}), within(float32_rounding)), "");
  EXPECT_EQ(recurrent::export_weights(gru, WeightLayout::flax_nnx), nn::state(gru));
  recurrent::load_weights(gru, weights, WeightLayout::flax_nnx);
}

TEST(FilesOfOthers, TheKernelsOfPyTorchComeBackByteForByte) {
  Rngs rngs(0);
  Tagger tagger(rngs);
  const State weights = checkpoint::restore_safetensors(file("tagger.safetensors"));
  recurrent::load_weights(tagger.encoder, weights, WeightLayout::pytorch, {.prefix = "encoder"});
  const State again = recurrent::export_weights(tagger.encoder, WeightLayout::pytorch);
  const auto [kernels, biases] = split(subtree(weights, {"encoder"}), of_rank == 2, rest);
  EXPECT_EQ(kernels.size(), 8);
  for (const auto& [path, variable] : kernels) EXPECT_TRUE(identical(again.at(path), variable)) << path;
}

}  // namespace
}  // namespace strata
