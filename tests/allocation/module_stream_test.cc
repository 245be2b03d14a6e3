// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/module_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "allocation/allocations.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/recurrent/conv_lstm_cell.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/layer_norm_cells.h"
#include "strata/recurrent/learned_carry.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/peephole_lstm_cell.h"
#include "strata/recurrent/projected_lstm_cell.h"
#include "strata/recurrent/recurrent_dropout.h"
#include "strata/recurrent/scan.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/recurrent/zoneout.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent {
namespace {

constexpr Index batch = 2;
constexpr Index in = 3;

Shape input_of(const auto&) { return {batch, in}; }
Shape input_of(const ConvLSTMCell<1>&) { return {batch, 6, in}; }
Shape input_of(const ConvLSTMCell<2>&) { return {batch, 6, 5, in}; }
Shape input_of(const ConvLSTMCell<3>&) { return {batch, 4, 3, 5, in}; }

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
  } else if constexpr (std::is_same_v<M, PeepholeLSTMCell>) {
    return {in, 4, rngs, {.peephole_init = nn::initializers::normal()}};
  } else if constexpr (std::is_same_v<M, ConvLSTMCell<1>>) {
    return {in, 4, {3}, rngs};
  } else if constexpr (std::is_same_v<M, ConvLSTMCell<2>>) {
    return {in, 4, {3, 3}, rngs};
  } else if constexpr (std::is_same_v<M, ConvLSTMCell<3>>) {
    return {in, 4, {3, 2, 3}, rngs};
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
using Modules =
    testing::Types<Tracker, LSTMCell, OptimizedLSTMCell, GRUCell, MGUCell, SimpleCell, ProjectedLSTMCell,
                   PeepholeLSTMCell, LayerNormLSTMCell, LayerNormGRUCell, ConvLSTMCell<1>, ConvLSTMCell<2>,
                   ConvLSTMCell<3>, StackedCell<GRUCell>, LearnedCarry<Zoneout<RecurrentDropout<LSTMCell>>>>;
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

// Cells that a scan runs step by step.
template <class M>
class StreamsOfSteppedCells : public testing::Test {};
using SteppedCells = testing::Types<MGUCell, ProjectedLSTMCell, PeepholeLSTMCell, LayerNormLSTMCell, LayerNormGRUCell,
                                    ConvLSTMCell<1>, ConvLSTMCell<2>, StackedCell<GRUCell>>;
TYPED_TEST_SUITE(StreamsOfSteppedCells, SteppedCells);

TYPED_TEST(StreamsOfSteppedCells, PutOutTheBitsOfAScan) {
  Rngs rngs(3);
  auto cell = make<TypeParam>(rngs);
  const Shape input = input_of(cell);
  const Tensor xs = random::normal(random::key(2), Shape{6}.append(input));
  auto stream = recurrent::stream(cell, input);
  Tensor ys = Tensor::uninitialized(Shape{6}.append(stream.output_shape()), DType::float32);
  const std::span<const float> from = xs.data<float>();
  const std::span<float> to = ys.mutable_data<float>();
  const auto in_size = static_cast<std::size_t>(input.num_elements());
  const auto out_size = static_cast<std::size_t>(stream.output_shape().num_elements());
  for (std::size_t t = 0; t < 6; ++t)
    stream.step(from.subspan(t * in_size, in_size), to.subspan(t * out_size, out_size));
  EXPECT_TRUE(identical(ys, scan(cell, xs, {.time_major = true}).y));
}

// Cells that a scan runs as one fused operation, which adds up products in another order.
template <class M>
class StreamsOfFusedCells : public testing::Test {};
using FusedCells = testing::Types<LSTMCell, OptimizedLSTMCell, GRUCell, SimpleCell>;
TYPED_TEST_SUITE(StreamsOfFusedCells, FusedCells);

TYPED_TEST(StreamsOfFusedCells, StayCloseToAScan) {
  constexpr double tolerance = 2e-6;  // some roundings of numbers below 1, carried along
  Rngs rngs(0);
  TypeParam cell(in, 32, rngs);
  const Tensor xs = random::normal(random::key(2), {200, batch, in});
  const Tensor expected = scan(cell, xs, {.time_major = true}).y;
  auto stream = recurrent::stream(cell, Shape{batch, in});
  for (Index t = 0; t < 200; ++t) {
    const Tensor x = xs[t];
    Tensor y = Tensor::uninitialized(stream.output_shape(), DType::float32);
    stream.step(x.data<float>(), y.mutable_data<float>());
    ASSERT_LT(max(abs(y - expected[t])).template item<double>(), tolerance) << t;
  }
}

// A state that was set is the stream's own: its memory comes from the stream and stays there.
TEST(ModuleStream, TakesNoMemoryFromStatesThatAreSet) {
  Rngs rngs(0);
  auto stream = recurrent::stream(MGUCell(in, 64, rngs), {batch, in});
  const std::vector<float> x(batch * in, 0.5F);
  std::vector<float> y(batch * 64);
  const std::int64_t before = allocation::live_bytes();
  for (int i = 0; i < 10; ++i) {
    stream.set_state(stream.state());
    stream.step(x, y);
  }
  EXPECT_EQ(allocation::live_bytes(), before);
}

// Large enough for panels of products, and for the threads of the pool.
TEST(ModuleStream, AllocatesNothingInAThreadThatItHasNotSeen) {
  Rngs rngs(0);
  auto stream = recurrent::stream(MGUCell(64, 256, rngs), {16, 64});
  const std::vector<float> x(16 * 64, 0.5F);
  std::vector<float> y(16 * 256);
  int allocations = -1;
  std::thread([&] {
    const int before = allocation::count();
    for (int i = 0; i < 5; ++i) stream.step(x, y);
    allocations = allocation::count() - before;
  }).join();
  EXPECT_EQ(allocations, 0);
}

// A module that computes in the threads it is given, and counts those that are not the first.
struct Spreading {
  struct Carry {
    Tensor others;
    STRATA_FIELDS(others)
  };

  [[nodiscard]] static Carry initial_carry(const Shape& input) { return {zeros(input)}; }
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor&) const {
    const std::thread::id own = std::this_thread::get_id();
    std::atomic<int> others = 0;
    parallel_for(0, 64, 1, [&](Index, Index) { others += std::this_thread::get_id() == own ? 0 : 1; });
    Carry next{carry.others + static_cast<double>(others.load())};
    return {next, next.others};
  }
};

TEST(ModuleStream, StepsOnItsThreadAlone) {
  auto stream = recurrent::stream(Spreading(), {1});
  const std::vector<float> x(1);
  std::vector<float> y(1);
  for (int i = 0; i < 100; ++i) stream.step(x, y);
  EXPECT_EQ(y[0], 0);
}

// A module with tensors of a hundred sizes.
struct Varied {
  using Carry = Spreading::Carry;

  [[nodiscard]] static Carry initial_carry(const Shape& input) { return {zeros(input)}; }
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& x) const {
    Tensor total = carry.others + x;
    for (Index n = 1; n <= 100; ++n) total = total + sum(ones({n, 16}));
    return {{total}, total};
  }
};

TEST(ModuleStream, KeepsMemoryOfAnyNumberOfSizes) {
  auto stream = recurrent::stream(Varied(), {1});
  const std::vector<float> x(1);
  std::vector<float> y(1);
  const int before = allocation::count();
  for (int i = 0; i < 3; ++i) stream.step(x, y);
  EXPECT_EQ(allocation::count(), before);
}

// A module that keeps what it computed last.
struct Keeping {
  using Carry = Spreading::Carry;

  [[nodiscard]] static Carry initial_carry(const Shape& input) { return {zeros(input)}; }
  [[nodiscard]] Step<Carry> step(const Carry& carry, const Tensor& x) const {
    *kept = carry.others + x;
    return {{*kept}, *kept};
  }

  std::shared_ptr<Tensor> kept = std::make_shared<Tensor>();
};

TEST(ModuleStream, MakesTensorsThatOutliveIt) {
  const Keeping module;
  const std::int64_t before = allocation::live_bytes();
  {
    auto stream = recurrent::stream(module, {3});
    const std::vector<float> x = {1, 2, 3};
    std::vector<float> y(3);
    stream.step(x, y);
    stream.step(x, y);
  }
  EXPECT_EQ(module.kept->at<float>({2}), 6);
  std::thread([&] { *module.kept = Tensor(); }).join();
  EXPECT_EQ(allocation::live_bytes(), before);
}

// Zoneout draws a mask at every step: had the constructor drawn some for itself, they would be others.
TEST(ModuleStream, BeginsWithTheModuleAsItWas) {
  Rngs rngs(0);
  Zoneout cell(LSTMCell(in, 4, rngs), {.c = 0.5, .h = 0.5}, rngs);
  auto stream = recurrent::stream(cell, {batch, in});
  const Tensor x = ones({batch, in});
  Tensor y = zeros({batch, 4});
  LSTMCarry carry = cell.initial_carry(x.shape());
  for (int i = 0; i < 4; ++i) {
    stream.step(x.data<float>(), y.mutable_data<float>());
    auto expected = cell(carry, x);
    EXPECT_TRUE(identical(y, expected.y)) << i;
    carry = std::move(expected.carry);
  }
}

TEST(ModuleStream, ForgetsTheHistoryOfAStateThatIsSet) {
  Rngs rngs(0);
  auto stream = recurrent::stream(MGUCell(in, 4, rngs), {batch, in});
  GradientTape tape;
  stream.set_state({.h = tape.watch(ones({batch, 4}))});
  EXPECT_FALSE(stream.state().h.is_tracked());
}

TEST(ModuleStream, RefusesModulesThatATapeWatches) {
  Rngs rngs(0);
  MGUCell cell(in, 4, rngs);
  GradientTape tape;
  cell.hn.kernel.reset(tape.watch(cell.hn.kernel));
  EXPECT_THROW(static_cast<void>(recurrent::stream(cell, {batch, in})), GradientError);
}

TEST(ModuleStream, EndsTheProgramAtSpansOfOtherSizes) {
  Rngs rngs(0);
  auto stream = recurrent::stream(MGUCell(in, 4, rngs), {batch, in});
  const std::vector<float> x(batch * in - 1);
  std::vector<float> y(batch * 4);
  EXPECT_DEATH(stream.step(x, y), "got 5 numbers and room for 8, expected 6 and 8");
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
