// SPDX-License-Identifier: Apache-2.0

// What holds for all wrappers of cells, alone and around each other, and for the cells that run step by step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/layer_norm_cells.h"
#include "strata/recurrent/learned_carry.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/peephole_lstm_cell.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/recurrent/zoneout.h"
#include "support/compare.h"
#include "support/gradient_check.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;

constexpr Index in = 2;
constexpr Index hidden = 3;

LSTMOptions lstm_doubles() { return {.param_dtype = DType::float64}; }

// How to make each cell: for 2 inputs, in float64.
struct Projected {
  static auto make(Rngs& rngs) { return ProjectedLSTMCell(in, hidden, 2, rngs, lstm_doubles()); }
};
struct Peepholes {
  static auto make(Rngs& rngs) {
    return PeepholeLSTMCell(in, hidden, rngs,
                            {.peephole_init = nn::initializers::normal(1.0), .param_dtype = DType::float64});
  }
};
struct WrappedPeepholes {
  static auto make(Rngs& rngs) {
    auto dropped = RecurrentDropout(Peepholes::make(rngs), {.recurrent = 0.5, .input = 0.25}, rngs);
    return LearnedCarry(Zoneout(std::move(dropped), {.c = 0.25, .h = 0.25}, rngs), {in}, rngs,
                        nn::initializers::normal(1.0));
  }
};
struct NormedLSTM {
  static auto make(Rngs& rngs) {
    return LayerNormLSTMCell(in, hidden, rngs,
                             {.bias_init = nn::initializers::normal(), .param_dtype = DType::float64});
  }
};
struct NormedGRU {
  static auto make(Rngs& rngs) { return LayerNormGRUCell(in, hidden, rngs, {.param_dtype = DType::float64}); }
};
struct ZonedLSTM {
  static auto make(Rngs& rngs) {
    return Zoneout(OptimizedLSTMCell(in, hidden, rngs, lstm_doubles()), {.c = 0.5, .h = 0.25}, rngs);
  }
};
struct DroppedGRU {
  static auto make(Rngs& rngs) {
    return RecurrentDropout(GRUCell(in, hidden, rngs, {.param_dtype = DType::float64}),
                            {.recurrent = 0.5, .input = 0.25}, rngs);
  }
};
struct LearnedLSTM {
  static auto make(Rngs& rngs) {
    return LearnedCarry(OptimizedLSTMCell(in, hidden, rngs, lstm_doubles()), {in}, rngs, nn::initializers::normal(1.0));
  }
};
struct Everything {
  static auto make(Rngs& rngs) {
    auto dropped = RecurrentDropout(LayerNormLSTMCell(in, hidden, rngs, {.param_dtype = DType::float64}),
                                    {.recurrent = 0.25}, rngs);
    return LearnedCarry(Zoneout(std::move(dropped), {.c = 0.25, .h = 0.25}, rngs), {in}, rngs,
                        nn::initializers::normal(1.0));
  }
};
struct Deep {
  static auto make(Rngs& rngs) {
    const auto layer = [&](Index width) {
      auto cell = RecurrentDropout(GRUCell(width, hidden, rngs, {.param_dtype = DType::float64}),
                                   {.recurrent = 0.25, .input = 0.25}, rngs);
      return LearnedCarry(Zoneout(std::move(cell), {.h = 0.25}, rngs), {width}, rngs, nn::initializers::normal(1.0));
    };
    return StackedCell({layer(in), layer(hidden), layer(hidden)}, {.residual = true});
  }
};

template <class Maker>
class WrappedCells : public testing::Test {
 protected:
  // Two equal calls give equal cells.
  static auto make() {
    Rngs rngs(0);
    return Maker::make(rngs);
  }
};
using Makers = testing::Types<Projected, Peepholes, WrappedPeepholes, NormedLSTM, NormedGRU, ZonedLSTM, DroppedGRU,
                              LearnedLSTM, Everything, Deep>;
TYPED_TEST_SUITE(WrappedCells, Makers);

Tensor input() { return random::normal(random::key(1), {2, 3, in}, DType::float64); }

template <class C>
ScanOptions<typename C::Carry> ragged(const C&) {
  return {.seq_lengths = tensor({3, 1})};
}

// The masks are the same in every call: the cell is made anew.
TYPED_TEST(WrappedCells, HaveGradientsOfInputsAndOfAllParameters) {
  const auto cell = this->make();
  std::vector<Tensor> sources{input()};
  for (const auto& [path, variable] : nn::state(cell)) {
    if (&variable.kind() == &kind_of<Param>()) sources.push_back(variable.value());
  }
  const auto f = [&](std::span<const Tensor> values) {
    auto changed = this->make();
    State state = nn::state(changed);
    std::size_t next = 1;
    for (const auto& [path, variable] : nn::state(changed)) {
      if (&variable.kind() == &kind_of<Param>()) state.at(path).reset(values[next++]);
    }
    nn::update(changed, state);
    auto [carry, y] = scan(changed, values[0], ragged(changed));
    std::vector<Tensor> parts{y.reshape({-1})};
    internal::for_each_tensor([&](const std::string&, const Tensor& part) { parts.push_back(part.reshape({-1})); }, "",
                              carry);
    return concatenate(parts, 0);
  };
  EXPECT_EQ(support::gradient_difference(f, sources), "");
}

TYPED_TEST(WrappedCells, GiveTheSameFromTheSameSeed) {
  auto one = this->make();
  auto other = this->make();
  EXPECT_EQ(difference(scan(one, input()).y, scan(other, input()).y, exactly), "");
  EXPECT_EQ(difference(scan(one, input()).y, scan(other, input()).y, exactly), "");
  EXPECT_EQ(nn::state(one), nn::state(other));
}

TYPED_TEST(WrappedCells, AreClonedSplitAndMerged) {
  auto cell = this->make();
  auto copy = nn::clone(cell);
  auto [graph, params, others] = nn::split(cell, of_type<Param>, rest);
  auto merged = nn::merge(graph, params, others);
  const Tensor y = scan(cell, input()).y;
  EXPECT_EQ(difference(scan(copy, input()).y, y, exactly), "");
  EXPECT_EQ(difference(scan(merged, input()).y, y, exactly), "");
}

TYPED_TEST(WrappedCells, DrawNothingInEvaluation) {
  auto cell = this->make();
  nn::eval(cell);
  const State before = nn::state(cell);
  const Tensor y = scan(cell, input(), ragged(cell)).y;
  EXPECT_EQ(difference(scan(cell, input(), ragged(cell)).y, y, exactly), "");
  EXPECT_EQ(nn::state(cell), before);
}

TYPED_TEST(WrappedCells, GiveEachRowWhatItGivesAlone) {
  auto cell = this->make();
  nn::eval(cell);
  const Tensor x = with_padding(input(), {3, 1}, nan);
  for (const bool reverse : {false, true}) {
    auto options = ragged(cell);
    options.reverse = reverse;
    options.keep_order = true;
    const auto [carry, y] = scan(cell, x, options);
    const auto alone = scan(cell, x[1].slice(0, 1), {.reverse = reverse, .keep_order = true});
    EXPECT_EQ(difference(y[1].slice(0, 1), alone.y, support::within(1e-12)), "");
    internal::for_each_tensor(
        [](const std::string& name, const Tensor& got, const Tensor& expected) {
          EXPECT_EQ(difference(got[1], expected, support::within(1e-12)), "") << name;
        },
        "", carry, alone.carry);
  }
}

TYPED_TEST(WrappedCells, KeepNaNInPaddingToItself) {
  auto cell = this->make();
  const auto run = [](auto& c, const Tensor& x, const auto& options) { return scan(c, x, options); };
  const Tensor weights = tensor<float>({1, 1, 1, 1, 0, 0}, {2, 3, 1});
  const Tensor x = with_padding(input(), {3, 1}, nan);
  for (const auto& [name, value] : scan_with_gradients(cell, x, ragged(cell), run, weights)) {
    if (name == "y") continue;
    for (const double element : elements(value)) ASSERT_EQ(element, element) << name;
  }
}

TYPED_TEST(WrappedCells, RunStepByStepAsInOneCall) {
  auto cell = this->make();
  auto same = nn::clone(cell);
  const Tensor x = input();
  auto carry = same.initial_carry({2, in});
  const auto sequence = begin_sequence(same, carry, {2, in});
  std::vector<Tensor> outputs;
  for (Index t = 0; t < 3; ++t) {
    auto result = step(same, carry, slice_axis(x, 1, t, t + 1).reshape({2, in}), sequence);
    carry = std::move(result.carry);
    outputs.push_back(result.y);
  }
  EXPECT_EQ(difference(internal::scan_by_steps(cell, x, {}).y, stack(outputs, 1), exactly), "");
}

TYPED_TEST(WrappedCells, TakeNoStepsAndNoRows) {
  auto cell = this->make();
  const State before = nn::state(cell);
  const auto empty = scan(cell, zeros({2, 0, in}, DType::float64));
  EXPECT_EQ(empty.y.shape().axes(0, 2), (Shape{2, 0}));
  EXPECT_EQ(nn::state(cell), before);
  EXPECT_EQ(scan(cell, zeros({0, 3, in}, DType::float64)).y.shape().axes(0, 2), (Shape{0, 3}));
}

}  // namespace
}  // namespace strata::recurrent
