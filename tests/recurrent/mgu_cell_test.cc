// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/mgu_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/error.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(SelfStartingCell<MGUCell> && Cell<const MGUCell>);

std::vector<std::string> paths_of(const MGUCell& cell) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(cell)) paths.push_back(to_string(path));
  return paths;
}

TEST(MGUCell, HasThePathsOfFlax) {
  Rngs rngs(0);
  EXPECT_EQ(paths_of(MGUCell(2, 3, rngs)), (std::vector<std::string>{"hf/kernel", "hn/bias", "hn/kernel", "if_/bias",
                                                                     "if_/kernel", "in/bias", "in/kernel"}));
  EXPECT_EQ(paths_of(MGUCell(2, 3, rngs, {.reset_gate = false})),
            (std::vector<std::string>{"hf/kernel", "hn/kernel", "if_/bias", "if_/kernel", "in/bias", "in/kernel"}));
}

TEST(MGUCell, StartsWithAForgetBiasOfOne) {
  Rngs rngs(0);
  const MGUCell cell(2, 3, rngs);
  EXPECT_EQ(elements(cell.if_.bias->value()), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(elements(cell.in.bias->value()), (std::vector<double>{0, 0, 0}));
}

TEST(MGUCell, IsAGRUWhoseGatesShareTheirWeights) {
  Rngs rngs(0);
  MGUCell cell(2, 3, rngs);
  cell.hn.bias->set_value(tensor({0.5f, -0.25f, 1.0f}));
  GRUCell gru(2, 3, rngs, {.recurrent_bias = true});
  const auto thrice = [](const Tensor& f, const Tensor& n) { return concatenate({f, f, n}, -1); };
  gru.dense_i.kernel.set_value(thrice(cell.if_.kernel, cell.in.kernel));
  gru.dense_i.bias->set_value(thrice(*cell.if_.bias, *cell.in.bias));
  gru.dense_h.kernel.set_value(thrice(cell.hf.kernel, cell.hn.kernel));
  gru.dense_h.bias->set_value(thrice(zeros({3}), *cell.hn.bias));
  const Tensor x = random::normal(random::key(1), {4, 5, 2});
  EXPECT_EQ(difference(scan(cell, x).y, scan(gru, x).y, support::within(1e-6)), "");
}

// By hand: f = sigmoid(1), n = tanh(2 + 0.5 * 4) without the gate, h' = (1 - f) n + 4 f.
TEST(MGUCell, LeavesTheStatesPartAloneWithoutAResetGate) {
  Rngs rngs(0);
  MGUCell cell(1, 1, rngs, {.reset_gate = false});
  cell.if_.kernel.set_value(zeros({1, 1}));
  cell.hf.kernel.set_value(zeros({1, 1}));
  cell.in.kernel.set_value(full({1, 1}, 2));
  cell.hn.kernel.set_value(full({1, 1}, 0.5));
  const auto step = cell({full({1}, 4)}, ones({1}));
  EXPECT_NEAR(elements(step.y)[0], 0.26894142 * 0.99932930 + 4 * 0.73105858, 1e-5);
}

TEST(MGUCell, NamesWhatDoesNotFit) {
  Rngs rngs(0);
  const MGUCell cell(2, 3, rngs);
  EXPECT_THAT(
      [&] {
        (void)cell({zeros({4, 3})}, ones({4, 5}));
      },
      ThrowsMessage<ShapeError>(AllOf(HasSubstr("MGUCell"), HasSubstr("[4, 5]"), HasSubstr("[*batch, 2]"))));
  EXPECT_THAT([&] { (void)cell({zeros({4, 2})}, ones({4, 2})); }, ThrowsMessage<ShapeError>(HasSubstr("`h`")));
}

TEST(MGUCell, HasGradients) {
  Rngs rngs(0);
  for (const bool reset_gate : {true, false}) {
    MGUCell cell(2, 3, rngs, {.reset_gate = reset_gate, .param_dtype = DType::float64});
    const auto f = [&](const Tensor& x, const Tensor& forget, const Tensor& hidden) {
      cell.if_.kernel.set_value(forget);
      cell.hn.kernel.set_value(hidden);
      return scan(cell, x, {.seq_lengths = tensor({3, 1})}).y;
    };
    const Tensor forget = cell.if_.kernel;
    const Tensor hidden = cell.hn.kernel;
    support::expect_gradients_match(f, random::normal(random::key(1), {2, 3, 2}, DType::float64), forget, hidden);
  }
}

}  // namespace
}  // namespace strata::recurrent
