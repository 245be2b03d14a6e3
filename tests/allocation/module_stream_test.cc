// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/module_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "allocation/allocations.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/conv_lstm_cell.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/layer_norm_gru_cell.h"
#include "strata/recurrent/layer_norm_lstm_cell.h"
#include "strata/recurrent/learned_carry.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/scan.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/recurrent/zoneout.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/random.h"

namespace strata::recurrent {
namespace {

constexpr Index batch = 2;
constexpr Index in = 3;

Shape input_of(const auto&) { return {batch, in}; }
Shape input_of(const ConvLSTMCell<1>&) { return {batch, 6, in}; }

// A network around a cell: what a robot runs.
struct Tracker {
  using Carry = LSTMCarry;

  nn::Linear map;
  nn::LayerNorm norm;
  LSTMCell cell;
  nn::Linear head;

  explicit Tracker(Rngs& rngs) : map{in, 8, rngs}, norm{8, rngs}, cell{8, 8, rngs}, head{8, 2, rngs} {}

  [[nodiscard]] Carry initial_carry(const Shape& input) const { return cell.initial_carry({input[0], 8}); }
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& x) const {
    const Tensor features = where(x > 0.0F, x, x * 0.1F);
    auto [next, y] = cell(carry, norm(strata::tanh(map(features))));
    return {std::move(next), head(concatenate({y.slice(0, 1), y.slice(1, batch)}, 0))};
  }
  STRATA_FIELDS(map, norm, cell, head)
};

template <class M>
M make(Rngs& rngs) {
  if constexpr (std::is_same_v<M, Tracker>) {
    return Tracker(rngs);
  } else if constexpr (std::is_same_v<M, ProjectedLSTMCell>) {
    return {in, 5, 4, rngs};
  } else if constexpr (std::is_same_v<M, ConvLSTMCell<1>>) {
    return {in, 4, {3}, rngs};
  } else if constexpr (std::is_same_v<M, StackedCell<GRUCell>>) {
    return StackedCell({GRUCell(in, 4, rngs), GRUCell(4, 4, rngs)}, {.residual = true});
  } else if constexpr (std::is_same_v<M, LearnedCarry<Zoneout<RecurrentDropout<LSTMCell>>>>) {
    M cell(Zoneout(RecurrentDropout(LSTMCell(in, 4, rngs), {.recurrent = 0.5}, rngs), {.c = 0.5, .h = 0.1}, rngs), {in},
           rngs, nn::initializers::normal());
    nn::eval(cell);
    return cell;
  } else {
    return M(in, 4, rngs);
  }
}

template <class M>
class ModuleStreams : public testing::Test {};
using Modules = testing::Types<Tracker, LSTMCell, OptimizedLSTMCell, GRUCell, MGUCell, SimpleCell, ProjectedLSTMCell,
                               LayerNormLSTMCell, LayerNormGRUCell, ConvLSTMCell<1>, StackedCell<GRUCell>,
                               LearnedCarry<Zoneout<RecurrentDropout<LSTMCell>>>>;
TYPED_TEST_SUITE(ModuleStreams, Modules);

TYPED_TEST(ModuleStreams, AllocateNothingAfterConstruction) {
  Rngs rngs(3);
  const auto module = make<TypeParam>(rngs);
  auto stream = recurrent::stream(module, input_of(module));
  const std::vector<float> x(static_cast<std::size_t>(stream.input_shape().num_elements()), 0.5F);
  std::vector<float> y(static_cast<std::size_t>(stream.output_shape().num_elements()));
  const auto saved = stream.state();
  const int before = allocation::count();
  for (int i = 0; i < 20; ++i) stream.step(x, y);
  stream.reset();
  stream.step(x, y);
  stream.set_state(saved);
  stream.step(x, y);
  EXPECT_EQ(allocation::count(), before);
}

// The same operations in one go, step after step: the same bits.
TYPED_TEST(ModuleStreams, GoOnAsTheModuleDoes) {
  Rngs rngs(3);
  auto module = make<TypeParam>(rngs);
  const Shape input = input_of(module);
  const Tensor xs = random::normal(random::key(1), Shape{5}.append(input));
  auto stream = recurrent::stream(module, input);
  auto carry = module.initial_carry(input);
  for (Index t = 0; t < 5; ++t) {
    auto expected = [&] {
      if constexpr (SteppingModule<TypeParam>) {
        return module.step(carry, xs[t]);
      } else {
        return module(carry, xs[t]);
      }
    }();
    Tensor y = Tensor::uninitialized(stream.output_shape(), DType::float32);
    const Tensor x = xs[t];
    stream.step(x.template data<float>(), y.template mutable_data<float>());
    EXPECT_TRUE(identical(y, expected.y)) << t;
    carry = std::move(expected.carry);
  }
  internal::for_each_tensor([](const std::string& name, const Tensor& got,
                               const Tensor& wanted) { EXPECT_TRUE(identical(got, wanted)) << name; },
                            "", std::as_const(static_cast<const typename TypeParam::Carry&>(stream.state())),
                            std::as_const(carry));
}

TEST(ModuleStream, IsSavedRestoredAndBegunAnew) {
  Rngs rngs(0);
  const Tracker tracker(rngs);
  auto stream = recurrent::stream(tracker, {batch, in});
  const std::vector<float> x(batch * in, 0.25F);
  std::vector<float> first(4), second(4), again(4);
  stream.step(x, first);
  const LSTMCarry saved = stream.state();
  stream.step(x, second);
  EXPECT_NE(first, second);
  stream.set_state(saved);
  stream.step(x, again);
  EXPECT_EQ(again, second);
  stream.reset();
  stream.step(x, again);
  EXPECT_EQ(again, first);
  EXPECT_THROW(stream.set_state({.c = saved.c, .h = zeros({batch, 7})}), ShapeError);
  EXPECT_THROW(stream.set_state({.c = saved.c.astype(DType::float64), .h = saved.h}), DTypeError);
}

TEST(ModuleStream, RefusesModulesOfOtherElementTypes) {
  Rngs rngs(0);
  const MGUCell cell(in, 4, rngs, {.param_dtype = DType::float64});
  EXPECT_THROW(static_cast<void>(recurrent::stream(cell, {batch, in})), DTypeError);
  EXPECT_THROW(static_cast<void>(recurrent::stream(MGUCell(in, 4, rngs), {batch, in + 1})), ShapeError);
}

// One set of weights, a stream and a thread for each of several inputs.
TEST(ModuleStream, SharesItsModuleBetweenThreads) {
  Rngs rngs(0);
  const auto tracker = std::make_shared<const Tracker>(rngs);
  const auto run = [&](float value) {
    auto stream = recurrent::stream(tracker, {batch, in});
    const std::vector<float> x(batch * in, value);
    std::vector<float> y(4);
    for (int i = 0; i < 200; ++i) stream.step(x, y);
    return y;
  };
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = run(static_cast<float>(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], run(static_cast<float>(i)));
}

}  // namespace
}  // namespace strata::recurrent
