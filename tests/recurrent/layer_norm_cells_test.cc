// SPDX-License-Identifier: Apache-2.0

// Cells with layer norm. That they agree with the formula in PyTorch: torch_test.cc.

#include "strata/recurrent/layer_norm_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;

static_assert(SelfStartingCell<LayerNormLSTMCell> && Cell<const LayerNormLSTMCell>);
static_assert(SelfStartingCell<LayerNormGRUCell> && Cell<const LayerNormGRUCell>);

template <class M>
std::vector<std::string> paths_of(const M& module) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(module)) paths.push_back(to_string(path));
  return paths;
}

TEST(LayerNormLSTMCell, HasOneBiasForAllThatAreSummed) {
  Rngs rngs(0);
  EXPECT_EQ(paths_of(LayerNormLSTMCell(2, 3, rngs)),
            (std::vector<std::string>{"dense_h/kernel", "dense_i/kernel", "norm_c/bias", "norm_c/scale", "norm_h/bias",
                                      "norm_h/scale", "norm_i/scale"}));
}

TEST(LayerNormGRUCell, HasABiasOnEachSideOfTheReset) {
  Rngs rngs(0);
  EXPECT_EQ(paths_of(LayerNormGRUCell(2, 3, rngs)),
            (std::vector<std::string>{"dense_h/kernel", "dense_i/kernel", "norm_gates_h/bias", "norm_gates_h/scale",
                                      "norm_gates_i/scale", "norm_n_h/bias", "norm_n_h/scale", "norm_n_i/bias",
                                      "norm_n_i/scale"}));
}

// What layer norm is for.
TEST(LayerNormLSTMCell, DoesNotSeeTheScaleOfItsInputs) {
  Rngs rngs(0);
  LayerNormLSTMCell cell(2, 3, rngs, {.epsilon = 0});
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x * 100).y, scan(cell, x).y, support::within(1e-5)), "");
}

TEST(LayerNormLSTMCell, CarriesTheMemoryUnnormalised) {
  Rngs rngs(0);
  LayerNormLSTMCell cell(2, 3, rngs);
  cell.norm_h.bias->set_value(concatenate({full({3}, -100), full({3}, 100), zeros({6})}, 0));  // i = 0, f = 1
  const auto carry = cell({full({3}, 50), zeros({3})}, ones({2})).carry;
  EXPECT_EQ(difference(carry.c, full({3}, 50), support::exactly), "");
}

TEST(LayerNormCells, NameWhatDoesNotFit) {
  Rngs rngs(0);
  const LayerNormLSTMCell lstm(2, 3, rngs);
  const LayerNormGRUCell gru(2, 3, rngs);
  EXPECT_THAT(
      [&] {
        (void)lstm({zeros({3}), zeros({4})}, ones({2}));
      },
      testing::ThrowsMessage<ShapeError>(testing::HasSubstr("`h`")));
  EXPECT_THAT([&] { (void)gru({zeros({3})}, ones({5})); },
              testing::ThrowsMessage<ShapeError>(testing::HasSubstr("[LayerNormGRUCell] x is")));
  EXPECT_THROW((LayerNormLSTMCell{2, 3, rngs, {.epsilon = -1}}), ValueError);
  EXPECT_THROW((LayerNormGRUCell{2, 3, rngs, {.epsilon = -1}}), ValueError);
}

}  // namespace
}  // namespace strata::recurrent
