// SPDX-License-Identifier: Apache-2.0
#include "strata/state/combine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "strata/state/subtree.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/deep_state.h"

namespace strata {
namespace {

using support::chain;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

Param param(double value) { return Param(scalar(value)); }

TEST(Merge, TakesAllEntriesInTheOrderOfPaths) {
  const std::array<State, 3> states{State{{{"b"}, param(1)}}, State(), State{{{"a"}, param(2)}}};
  EXPECT_EQ(merge(states), (State{{{"a"}, param(2)}, {{"b"}, param(1)}}));
  EXPECT_EQ(merge(states[0], states[2]), merge(states));
  EXPECT_TRUE(merge(std::span<const State>()).empty());
}

TEST(Merge, NamesPathsThatSeveralHold) {
  const State a{{{"a"}, param(1)}, {{"c"}, param(1)}};
  const State b{{{"a"}, param(2)}, {{"b"}, param(3)}, {{"c"}, param(1)}};
  EXPECT_THAT([&] { (void)merge(a, b); }, ThrowsMessage<StateError>(HasSubstr("several states hold: a, c.")));
}

TEST(Merge, NamesPathsThatContinueOthersInBothOrders) {
  const State leaf{{{"a"}, param(1)}};
  const State below{{{"a", "x"}, param(2)}};
  EXPECT_THAT([&] { (void)merge(leaf, below); }, ThrowsMessage<StateError>(HasSubstr(": a and a/x.")));
  EXPECT_THAT([&] { (void)merge(below, leaf); }, ThrowsMessage<StateError>(HasSubstr(": a and a/x.")));
}

TEST(Overlay, TheLaterStateWins) {
  const State first{{{"a"}, param(1)}, {{"b"}, param(2)}};
  const State second{{{"b"}, param(5)}, {{"c"}, param(6)}};
  EXPECT_EQ(overlay(first, second), (State{{{"a"}, param(1)}, {{"b"}, param(5)}, {{"c"}, param(6)}}));
  EXPECT_EQ(overlay(second, first), (State{{{"a"}, param(1)}, {{"b"}, param(2)}, {{"c"}, param(6)}}));
}

TEST(Overlay, ALaterVariableCoversAllBelowItsPath) {
  const State below{{{"a", "x"}, param(1)}, {{"a", "y", 0}, param(2)}, {{"ab"}, param(3)}};
  EXPECT_EQ(overlay(below, State{{{"a"}, param(9)}}), (State{{{"a"}, param(9)}, {{"ab"}, param(3)}}));
}

TEST(Overlay, RefusesToLeadThroughAnEarlierVariable) {
  const State leaf{{{"a"}, param(9)}};
  const State below{{{"a", "x"}, param(1)}, {{"a", "y"}, param(1)}};
  EXPECT_THAT([&] { (void)overlay(leaf, below); },
              ThrowsMessage<StateError>(AllOf(HasSubstr("a and a/x"), HasSubstr("a and a/y"))));
  EXPECT_THAT([&] { (void)overlay(leaf, below, leaf); }, ThrowsMessage<StateError>(HasSubstr("a and a/x")));
}

TEST(Overlay, NamesTheRoot) {
  const State root{{{}, param(9)}};
  EXPECT_THAT(
      [&] {
        (void)overlay(root, State{{{"a"}, param(1)}});
      },
      ThrowsMessage<StateError>(HasSubstr("(root) and a.")));
}

TEST(Overlay, OfManyStatesKeepsTheLastOfEach) {
  std::vector<State> states;
  for (int i = 0; i < 7; ++i) states.push_back(State{{{"all"}, param(i)}, {{"own", i}, param(i)}});
  const State result = overlay(states);
  EXPECT_EQ(result.size(), 8);
  EXPECT_EQ(result.at({"all"}), param(6));
  EXPECT_EQ(result.at({"own", 3}), param(3));
}

TEST(Overlay, OfDeepChainsThatShareNoKeys) {
  constexpr int depth = 100000;
  const State result = overlay(chain(depth, 1), chain(depth, 2));
  ASSERT_EQ(result.size(), depth);
  EXPECT_EQ(result.begin()->variable, param(2));
  EXPECT_EQ(std::prev(result.end())->variable, param(2));
}

TEST(Difference, LeavesWhatTheOtherLacks) {
  const State a{{{"a"}, param(1)}, {{"b", "c"}, param(2)}, {{"b", "d"}, param(3)}};
  const State b{{{"b", "c"}, param(5)}, {{"z"}, param(1)}};
  EXPECT_EQ(difference(a, b), (State{{{"a"}, param(1)}, {{"b", "d"}, param(3)}}));
  EXPECT_EQ(difference(b, a), (State{{{"z"}, param(1)}}));
  EXPECT_TRUE(difference(a, a).empty());
  EXPECT_EQ(difference(a, State()), a);
}

TEST(Difference, OfDeepChainsThatShareNoKeys) {
  constexpr int depth = 100000;
  const State rest = difference(chain(depth, 1), chain(depth - 1, 2));
  ASSERT_EQ(rest.size(), 1);
  EXPECT_EQ(rest.begin()->path.depth(), depth);
}

TEST(Subtree, TakesThePrefixOff) {
  const State state{{{"a"}, param(0)}, {{"b", 0, "w"}, param(1)}, {{"b", 1, "w"}, param(2)}, {{"ba"}, param(3)}};
  EXPECT_EQ(subtree(state, {"b"}), (State{{{0, "w"}, param(1)}, {{1, "w"}, param(2)}}));
  EXPECT_EQ(subtree(state, {"b", 1}), (State{{{"w"}, param(2)}}));
  EXPECT_EQ(subtree(state, {"a"}), (State{{{}, param(0)}}));
  EXPECT_TRUE(subtree(state, {"c"}).empty());
  EXPECT_EQ(subtree(state, {}), state);
}

TEST(WithPrefix, IsTheInverseOfSubtree) {
  const State state{{{0, "w"}, param(1)}, {{"a", "b"}, param(2)}};
  const State moved = with_prefix(state, {"x", 3});
  EXPECT_EQ(moved, (State{{{"x", 3, 0, "w"}, param(1)}, {{"x", 3, "a", "b"}, param(2)}}));
  EXPECT_EQ(subtree(moved, {"x", 3}), state);
  EXPECT_EQ(with_prefix(state, {}), state);
}

TEST(WithPrefix, KeepsSharedKeysShared) {
  constexpr int depth = 100000;  // 5e9 keys if every path had its own
  const State moved = with_prefix(chain(depth, 1), {"x"});
  EXPECT_EQ(std::prev(moved.end())->path.depth(), depth + 1);
  EXPECT_EQ(std::prev(subtree(moved, {"x"}).end())->path.depth(), depth);
}

}  // namespace
}  // namespace strata
