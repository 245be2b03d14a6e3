// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/learned_carry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "recurrent/cells.h"
#include "strata/nn/value_and_grad.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/stacked_cell.h"
#include "strata/recurrent/stream.h"
#include "strata/tensor/error.h"
#include "support/compare.h"

namespace strata::recurrent {
namespace {

using support::difference;
using support::exactly;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Doubles = std::vector<double>;

template <class M>
std::vector<std::string> paths_of(const M& module) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : nn::state(module)) paths.push_back(to_string(path));
  return paths;
}

LearnedCarry<LSTMCell> learned(Rngs& rngs) { return {LSTMCell(2, 3, rngs), {2}, rngs, nn::initializers::normal(1.0)}; }

TEST(LearnedCarry, HasAParameterForEachPart) {
  Rngs rngs(0);
  const LearnedCarry cell(GRUCell(2, 3, rngs), {2}, rngs);
  EXPECT_EQ(paths_of(cell),
            (std::vector<std::string>{"cell/dense_h/kernel", "cell/dense_i/bias", "cell/dense_i/kernel", "initial/h"}));
  EXPECT_EQ(elements(cell.initial.at("h")), (Doubles{0, 0, 0}));
  const auto lstm = learned(rngs);
  EXPECT_EQ(lstm.initial.at("c").value().shape(), (Shape{3}));
  EXPECT_EQ(lstm.initial.size(), 2U);
}

// A sum and the last two inputs, in a carry of structs, lists, tensors and what may be absent.
struct Deep {
  struct Carry {
    HiddenCarry total;
    std::array<Tensor, 2> last;
    std::optional<Tensor> count;
    std::optional<Tensor> none;
    STRATA_FIELDS(total, last, count, none)
  };
  static constexpr int num_feature_axes = 1;

  Step<Carry> operator()(const Carry& carry, const Tensor& x) const {
    Tensor sum = carry.total.h + x;
    return {{{sum}, {x, carry.last[0]}, *carry.count + 1, {}}, sum + carry.last[1]};
  }
  Carry initial_carry(const Shape& input) const {
    return {{zeros(input)}, {zeros(input), zeros(input)}, zeros(input), {}};
  }

  STRATA_FIELDS()
};

// Keys of paths are keys of files: none holds a separator, and positions are integers.
TEST(LearnedCarry, HasThePathsOfACarryWithinACarry) {
  Rngs rngs(0);
  const LearnedCarry cell(StackedCell({GRUCell(2, 3, rngs), GRUCell(3, 4, rngs)}), {2}, rngs);
  const State state = nn::state(cell);
  EXPECT_EQ(state.at(Path{"initial", 0, "h"}).value().shape(), (Shape{3}));
  EXPECT_EQ(state.at(Path{"initial", 1, "h"}).value().shape(), (Shape{4}));
  const LearnedCarry deep(Deep(), {2}, rngs);
  EXPECT_EQ(paths_of(deep),
            (std::vector<std::string>{"initial/count", "initial/last/0", "initial/last/1", "initial/total/h"}));
  EXPECT_EQ(&nn::state(deep).at(Path{"initial", "last", 1}).kind(), &kind_of<Param>());
}

TEST(LearnedCarry, BeginsWithEveryPartOfACarryWithinACarry) {
  Rngs rngs(0);
  LearnedCarry cell(Deep(), {2}, rngs, nn::initializers::normal(1.0));
  auto [graph, params] = nn::split(cell, everything);
  auto merged = nn::merge(graph, params);
  auto copy = nn::clone(cell);
  for (auto* one : {&cell, &merged, &copy}) {
    const Deep::Carry carry = one->initial_carry({3, 2});
    EXPECT_EQ(difference(carry.total.h[2], params.at(Path{"initial", "total", "h"}), exactly), "");
    EXPECT_EQ(difference(carry.last[1][2], params.at(Path{"initial", "last", 1}), exactly), "");
    EXPECT_EQ(difference((*carry.count)[2], params.at(Path{"initial", "count"}), exactly), "");
    EXPECT_FALSE(carry.none);
  }
  const auto grads = nn::grad([](auto& c) { return sum(scan(c, ones({3, 4, 2})).y); }, of_type<Param>)(cell);
  // `total` is in the sum of every of 4 steps, last/1 in that of the first, and there are 3 rows.
  EXPECT_EQ(elements(grads.at(Path{"initial", "total", "h"})), (Doubles{12, 12}));
  EXPECT_EQ(elements(grads.at(Path{"initial", "last", 1})), (Doubles{3, 3}));
}

TEST(LearnedCarry, BeginsEveryRowWithTheParameters) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  const auto carry = cell.initial_carry({4, 5, 2});
  EXPECT_EQ(carry.c.shape(), (Shape{4, 5, 3}));
  EXPECT_EQ(difference(carry.c[3][4], cell.initial.at("c"), exactly), "");
  EXPECT_EQ(difference(cell.initial_carry({2}).h, cell.initial.at("h"), exactly), "");
  const auto final = scan(cell, ones({2, 4, 2}), {.seq_lengths = tensor({0, 4})}).carry;
  EXPECT_EQ(difference(final.h[0], cell.initial.at("h"), exactly), "");
}

TEST(LearnedCarry, IsReplacedByACarryThatIsGiven) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  LSTMCell bare = cell.cell;
  const LSTMCarry zero = bare.initial_carry({2, 2});
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  EXPECT_EQ(difference(scan(cell, x, {.initial_carry = zero}).y, scan(bare, x).y, exactly), "");
}

TEST(LearnedCarry, RunsAsTheFusedOperationWithGradients) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  ASSERT_TRUE(cell.fused());
  const Tensor x = random::normal(random::key(1), {2, 4, 2});
  const auto step = nn::value_and_grad(
      [&](auto& c, bool fused) { return sum(fused ? scan(c, x).y : internal::scan_by_steps(c, x, {}).y); },
      of_type<Param>);
  const auto fused = step(cell, true);
  const auto by_steps = step(cell, false);
  EXPECT_EQ(difference(fused.value, by_steps.value, support::within(1e-5)), "");
  for (const auto& [path, gradient] : by_steps.grads) {
    EXPECT_EQ(difference(fused.grads.at(path), gradient.value(), support::within(1e-5)), "") << to_string(path);
  }
  EXPECT_NE(difference(fused.grads.at(Path{"initial", "c"}), zeros({3}), exactly), "");
}

// A parameter that was set to anything; the others are right.
void expect_refused(const std::string& part, const Tensor& value, const auto& error) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  cell.initial.at(part).reset(value);
  const Tensor x = ones({2, 4, 2});
  EXPECT_THAT([&] { (void)scan(cell, x); }, error) << part;
  EXPECT_THAT([&] { (void)scan(cell, x, {.resets = ones({2, 4}, DType::boolean)}); }, error) << part;
  EXPECT_THAT([&] { (void)scan(cell, PackedSequence::from_padded(x, tensor({4, 3}))); }, error) << part;
  EXPECT_THAT([&] { (void)stream(cell, 2); }, error) << part;
}

TEST(LearnedCarry, IsRefusedIfItDoesNotFitTheCell) {
  for (const std::string part : {"c", "h"}) {
    const auto named = HasSubstr("part `" + part + "` of the cell's own initial carry");
    expect_refused(part, zeros({1}), ThrowsMessage<ShapeError>(named));
    expect_refused(part, zeros({2, 3}), ThrowsMessage<ShapeError>(named));
    expect_refused(part, zeros({3}, DType::float64), ThrowsMessage<DTypeError>(AllOf(named, HasSubstr("float32 ["))));
  }
}

TEST(LearnedCarry, IsRefusedIfItHasPartsForAnotherNumberOfCells) {
  Rngs rngs(0);
  LearnedCarry cell(StackedCell({LSTMCell(2, 3, rngs), LSTMCell(3, 3, rngs)}), {2}, rngs);
  cell.initial.pop_back();
  EXPECT_THAT(
      [&] {
        (void)scan(cell, ones({2, 4, 2}));
      },
      ThrowsMessage<ShapeError>("[LearnedCarry] the cell's own initial carry has 2 entries, expected 1."));
}

// Types that differ are for single steps, which check shapes likewise.
TEST(LearnedCarry, IsRefusedByShapeAloneWhereTypesDiffer) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  const Tensor x = ones({2, 4, 2}, DType::float64);
  EXPECT_EQ(scan(cell, x).carry.h.dtype(), DType::float32);
  cell.initial.at("h").reset(zeros({1}));
  EXPECT_THROW((void)scan(cell, x), ShapeError);
}

TEST(LearnedCarry, IsWhereAStreamBegins) {
  Rngs rngs(0);
  auto cell = learned(rngs);
  auto runner = stream(cell, 2);
  const Tensor x = random::normal(random::key(1), {2, 1, 2});
  const Tensor expected = scan(cell, x).y;
  for (int round = 0; round < 2; ++round) {
    std::vector<float> out(6);
    runner.step(x.data<float>(), out);
    EXPECT_EQ(difference(tensor(out, {2, 1, 3}), expected, exactly), "");
    runner.reset();
  }
  EXPECT_EQ(difference(runner.state().c[1], cell.initial.at("c"), exactly), "");
}

}  // namespace
}  // namespace strata::recurrent
