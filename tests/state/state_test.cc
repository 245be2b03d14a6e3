// SPDX-License-Identifier: Apache-2.0
#include "strata/state/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <sstream>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/deep_state.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Path> paths_of(const State& state) {
  std::vector<Path> paths;
  for (const auto& [path, variable] : state) paths.push_back(path);
  return paths;
}

Param param(float value) { return Param(scalar(value)); }

TEST(State, AtOfATemporaryOutlivesIt) {
  const auto make = [] { return State{{{"a"}, param(2)}}; };
  const Variable& kept = make().at({"a"});
  EXPECT_EQ(kept, param(2));
}

TEST(State, OrdersEntriesByPath) {
  const State state{{{"b"}, param(1)}, {{"a", 10}, param(2)}, {{"a", "x"}, param(3)}, {{"a", 2}, param(4)}};
  EXPECT_EQ(paths_of(state), (std::vector<Path>{{"a", 2}, {"a", 10}, {"a", "x"}, {"b"}}));
}

// cases/state-02: texts that look like numbers.
TEST(State, DigitsInTextsAreOrderedAsText) {
  std::vector<State::Entry> entries;
  for (int i = 0; i < 12; ++i) entries.push_back({Path{std::to_string(i)}, param(0)});
  EXPECT_EQ(paths_of(State(std::move(entries))),
            (std::vector<Path>{{"0"}, {"1"}, {"10"}, {"11"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"7"}, {"8"}, {"9"}}));
}

// cases/state-02: the order does not depend on that of insertion.
TEST(State, IntegersStandBeforeTextsUnderOneParent) {
  State state;
  state.set(Path{"a"}, param(1));
  state.set(Path{0}, param(2));
  EXPECT_EQ(paths_of(state), (std::vector<Path>{{0}, {"a"}}));
}

TEST(State, FindsByPath) {
  State state{{{"a", 0}, param(1)}, {{"a", "0"}, param(2)}};
  EXPECT_EQ(state.at({"a", 0}).value().item<float>(), 1);
  EXPECT_EQ(state.at({"a", "0"}).value().item<float>(), 2);
  EXPECT_EQ(state.find({"a"}), nullptr);
  EXPECT_FALSE(state.contains(Path()));
}

TEST(State, AtNamesWhatThereIs) {
  const State state{{{"kernel"}, param(1)}};
  EXPECT_THAT([&] { (void)state.at({"kernle"}); },
              ThrowsMessage<StateError>(testing::AllOf(HasSubstr("\"kernle\""), HasSubstr("There are: kernel"))));
}

TEST(State, RefusesAPathGivenTwice) {
  EXPECT_THAT(([] {
                return State{{{"a"}, param(1)}, {{"b"}, param(2)}, {{"a"}, param(3)}};
              }),
              ThrowsMessage<StateError>(HasSubstr("more than once: a")));
}

TEST(State, RefusesAPathThatContinuesAnother) {
  EXPECT_THAT(([] {
                return State{{{"a", "x"}, param(1)}, {{"a"}, param(2)}};
              }),
              ThrowsMessage<StateError>(HasSubstr("a and a/x")));
  EXPECT_THROW((State{{Path(), param(1)}, {{"a"}, param(2)}}), StateError);
}

TEST(State, MayHoldOneVariableAtTheRoot) {
  const State state{{Path(), param(1)}};
  EXPECT_EQ(state.at(Path()).value().item<float>(), 1);
}

// cases/state-07: the later one wins.
TEST(State, SetReplacesWhatIsThere) {
  State state{{{"a"}, param(1)}, {{"b"}, param(2)}};
  for (const auto& [path, variable] : State{{{"b"}, param(5)}, {{"c"}, param(6)}}) state.set(path, variable);
  EXPECT_EQ(state, (State{{{"a"}, param(1)}, {{"b"}, param(5)}, {{"c"}, param(6)}}));
}

// cases/state-07: a subtree over a leaf, a leaf over a subtree.
TEST(State, SetRefusesConflictsAndChangesNothing) {
  State state{{{"a", "x"}, param(1)}, {{"b"}, param(2)}};
  const State before = state;
  EXPECT_THAT([&] { state.set({"a"}, param(9)); }, ThrowsMessage<StateError>(HasSubstr("a and a/x")));
  EXPECT_THAT([&] { state.set({"b", 0}, param(9)); }, ThrowsMessage<StateError>(HasSubstr("b and b/0")));
  EXPECT_EQ(state, before);
}

TEST(State, EraseTellsWhetherThereWasOne) {
  State state{{{"a"}, param(1)}};
  EXPECT_FALSE(state.erase({"b"}));
  EXPECT_TRUE(state.erase({"a"}));
  EXPECT_TRUE(state.empty());
}

TEST(State, EraseTakesAPathOfItsOwn) {
  State state{{{"a"}, param(1)}, {{"b"}, param(2)}};
  EXPECT_TRUE(state.erase(state.begin()->path));
  EXPECT_EQ(paths_of(state), std::vector<Path>{{"b"}});
}

TEST(State, CopiesAreOfTheirOwn) {
  State state{{{"a"}, param(1)}};
  const State copy = state;
  state.at({"a"}).set_value(scalar(2.0F));
  EXPECT_EQ(copy.at({"a"}).value().item<float>(), 1);
}

TEST(State, CountsElementsAndBytes) {
  const State state{{{"a"}, Param(zeros({2, 3}))}, {{"b"}, Param(zeros({4}, DType::float64))}};
  EXPECT_EQ(state.size(), 2);
  EXPECT_EQ(state.num_elements(), 10);
  EXPECT_EQ(state.num_bytes(), 56U);
}

TEST(State, PrintsOneLineForEachVariable) {
  std::ostringstream out;
  out << State{{{"layers", 0}, Param(zeros({2, 3}), tagged("lora"))}, {{"mean"}, BatchStat(zeros({3}))}};
  EXPECT_EQ(out.str(), "layers/0  Param float32[2, 3]  tag='lora'\nmean  BatchStat float32[3]\n");
}

TEST(State, ErrorsListTenOffendersAndCountTheRest) {
  std::vector<State::Entry> entries;
  for (int i = 0; i < 13; ++i) entries.insert(entries.end(), 2, {Path{i}, param(0)});
  EXPECT_THAT([&] { return State(entries); }, ThrowsMessage<StateError>(HasSubstr("8, 9 and 3 more")));
}

RC_GTEST_PROP(StateProperty, OrderDoesNotDependOnInsertion, ()) {
  const auto numbers = *rc::gen::unique<std::vector<int>>(rc::gen::inRange(0, 1000));
  State one_by_one;
  std::vector<State::Entry> entries;
  for (const int number : numbers) {
    const Path path{number % 7 == 0 ? Key(std::to_string(number)) : Key(number), "leaf"};
    one_by_one.set(path, param(static_cast<float>(number)));
    entries.push_back({path, param(static_cast<float>(number))});
  }
  std::reverse(entries.begin(), entries.end());
  RC_ASSERT(one_by_one == State(std::move(entries)));
}

TEST(State, ComparesDeepChainsThatShareNoKeys) {
  constexpr int depth = 100000;
  const State state = support::chain(depth, 1);
  EXPECT_EQ(state, support::chain(depth, 1));
  EXPECT_NE(state, support::chain(depth, 2));
  EXPECT_NE(state, support::chain(depth, 1, "c"));
  EXPECT_NE(state, support::chain(depth - 1, 1));
}

// docs/architecture.md tells these figures.
TEST(State, AnEntryTakesFortyEightBytes) {
  EXPECT_EQ(sizeof(Tensor), 16U);
  EXPECT_EQ(sizeof(State::Entry), 48U);
}

}  // namespace
}  // namespace strata
