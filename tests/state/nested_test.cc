// SPDX-License-Identifier: Apache-2.0
#include "strata/state/nested.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/deep_state.h"

namespace strata {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Tensor number(double value) { return scalar(value); }
Param param(double value) { return Param(scalar(value)); }

Nested deep(int depth) {
  Nested result(number(1));
  for (int i = 0; i < depth; ++i) {
    Nested above;
    above.members().emplace("a", std::move(result));
    result = std::move(above);
  }
  return result;
}

TEST(Nested, IsAMapOrATensor) {
  const Nested values{{"a", number(1)}, {"b", {{0, number(2)}}}};
  EXPECT_EQ(values.find("b")->find(0)->value().item<double>(), 2);
  EXPECT_EQ(values.find("c"), nullptr);
  EXPECT_EQ(values.find("a")->find("x"), nullptr);
  EXPECT_THROW((void)values.value(), StateError);
  EXPECT_THROW((void)values.find("a")->members(), StateError);
}

TEST(Nested, CopiesAreEqualAndIndependent) {
  const Nested values{{"a", number(1)}, {"b", {{0, number(2)}}}, {"c", Nested()}};
  Nested copy = values;
  EXPECT_EQ(copy, values);
  copy.members().at("b").members().at(0) = Nested(number(3));
  EXPECT_NE(copy, values);
  EXPECT_EQ(values.find("b")->find(0)->value().item<double>(), 2);
}

TEST(Nested, DepthTakesNoStack) {
  const Nested values = deep(100000);
  const Nested copy = values;
  EXPECT_EQ(copy, values);
  const State state = to_state(values);
  ASSERT_EQ(state.size(), 1);
  EXPECT_EQ(state.begin()->path.depth(), 100000);
  EXPECT_EQ(to_nested(state), values);
  EXPECT_EQ(unflatten(flatten(values)), values);
  EXPECT_EQ(with_integer_keys(values), values);
}

TEST(ToNested, KeepsValuesOnly) {
  const State state{{{"a", "x"}, param(1)}, {{"a", "y"}, BatchStat(scalar(2.0))}, {{"b"}, param(3)}};
  EXPECT_EQ(to_nested(state), (Nested{{"a", {{"x", number(1)}, {"y", number(2)}}}, {"b", number(3)}}));
}

TEST(ToNested, OfAVariableAlone) {
  EXPECT_EQ(to_nested(State{{{}, param(1)}}), Nested(number(1)));
  EXPECT_EQ(to_state(Nested(number(1))), (State{{{}, Variable(number(1))}}));
}

TEST(ToState, GivesVariablesOfTheRootKindAndLeavesEmptyMapsOut) {
  const Nested values{{"a", {{2, number(1)}}}, {"b", Nested()}};
  EXPECT_EQ(to_state(values), (State{{{"a", 2}, Variable(number(1))}}));
}

TEST(Flatten, KeepsEmptyMapsIfAsked) {
  const Nested values{{"a", Nested()}, {"b", number(1)}};
  ASSERT_EQ(flatten(values).size(), 1U);
  const std::vector<FlatEntry> entries = flatten(values, {.keep_empty = true});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].path, Path{"a"});
  EXPECT_FALSE(entries[0].value.has_value());
  EXPECT_EQ(unflatten(entries), values);
}

TEST(Flatten, OfATensorIsAnError) { EXPECT_THROW((void)flatten(Nested(number(1))), StateError); }

TEST(Unflatten, RefusesWhatIsNoTree) {
  const auto entry = [](Path path) { return FlatEntry{std::move(path), number(1)}; };
  const std::vector<FlatEntry> twice{entry({"a"}), entry({"a"})};
  const std::vector<FlatEntry> continued{entry({"a", "b"}), entry({"a"})};
  const std::vector<FlatEntry> empty_continued{{{"a"}}, entry({"a", "b"})};
  const std::vector<FlatEntry> root{entry({})};
  EXPECT_THAT([&] { (void)unflatten(twice); }, ThrowsMessage<StateError>(HasSubstr("more than once: a.")));
  EXPECT_THAT([&] { (void)unflatten(continued); }, ThrowsMessage<StateError>(HasSubstr("a and a/b")));
  EXPECT_THROW((void)unflatten(empty_continued), StateError);
  EXPECT_THAT([&] { (void)unflatten(root); }, ThrowsMessage<StateError>(HasSubstr("root")));
}

TEST(JoinKeys, RefusesWhatWouldNotBeReadBack) {
  EXPECT_EQ(join_keys({"a", "0", "b"}, "."), "a.0.b");
  EXPECT_THAT([] { (void)join_keys({"a", 0}, "."); }, ThrowsMessage<ValueError>(HasSubstr("integer key 0")));
  EXPECT_THAT([] { (void)join_keys({"a.b"}, "."); }, ThrowsMessage<ValueError>(HasSubstr("holds '.'")));
  EXPECT_THROW((void)join_keys({}, "."), ValueError);
  EXPECT_THROW((void)join_keys({"a"}, ""), ValueError);
}

TEST(SplitKeys, KeepsDigitsAsTexts) {
  EXPECT_EQ(split_keys("a.0..b", "."), (Path{"a", "0", "", "b"}));
  EXPECT_EQ(split_keys("", "."), (Path{""}));
  EXPECT_THROW((void)split_keys("a", ""), ValueError);
}

TEST(IntegerReading, TakesDigitsWithinSixtyFourBits) {
  EXPECT_EQ(integer_reading("10"), 10);
  EXPECT_EQ(integer_reading("01"), 1);
  EXPECT_EQ(integer_reading("-3"), -3);
  for (const char* text : {"", "-", "+1", " 1", "1_0", "1.0", "x1", "9223372036854775808"}) {
    EXPECT_EQ(integer_reading(text), std::nullopt) << text;
  }
}

TEST(WithIntegerKeys, NamesTextsWithOneReading) {
  const Nested values{{"l", {{"1", number(1)}, {"01", number(2)}}}};
  EXPECT_THAT([&] { (void)with_integer_keys(values); }, ThrowsMessage<StateError>(HasSubstr("l/01 and l/'1'")));
  EXPECT_THROW((void)with_integer_keys(Nested{{"1", number(1)}, {1, number(2)}}), StateError);
}

TEST(WithIntegerKeys, KeepsEmptyMapsAndOtherKeys) {
  EXPECT_EQ(with_integer_keys(Nested{{"0", Nested()}, {"x", {{"2", number(1)}}}}),
            (Nested{{0, Nested()}, {"x", {{2, number(1)}}}}));
  EXPECT_EQ(with_integer_keys(Nested(number(1))), Nested(number(1)));
}

TEST(ReplaceValues, DigitsReachIntegerKeysAfterExactOnes) {
  State state{{{"p", "1"}, param(0)}, {{"q", 1}, param(0)}, {{"q", 2}, param(7)}};
  replace_values(state, Nested{{"p", {{"1", number(5)}}}, {"q", {{"1", number(6)}}}});
  EXPECT_EQ(state, (State{{{"p", "1"}, param(5)}, {{"q", 1}, param(6)}, {{"q", 2}, param(7)}}));
}

TEST(ReplaceValues, ListsEverythingThatDoesNotFitAndChangesNothing) {
  State state{{{"a"}, param(1)}, {{"b"}, param(2)}, {{"c"}, param(3)}, {{0}, param(4)}};
  const State before = state;
  const Nested values{{"a", number(9)},    {"b", zeros({3}, DType::float64)},
                      {"c", scalar(1.0F)}, {"5", number(1)},
                      {"0", number(5)},    {0, number(6)}};
  EXPECT_THAT(
      [&] { replace_values(state, values); },
      ThrowsMessage<StateError>(AllOf(HasSubstr("Unknown: '5'"), HasSubstr("0 and '0'"), HasSubstr("b (expected"),
                                      HasSubstr("c (expected float64[], got float32[])"))));
  EXPECT_EQ(state, before);
}

TEST(ReplaceValues, OfDeepChainsThatShareNoKeys) {
  constexpr int depth = 100000;
  State state = support::chain(depth, 1);
  replace_values(state, to_nested(support::chain(depth, 2)));
  EXPECT_EQ(state, support::chain(depth, 2));
}

TEST(ReplaceValues, OfDeepChainsOfTextsThatStandForIntegers) {
  constexpr int depth = 100000;
  State state = support::chain(depth, 1, 7);
  replace_values(state, to_nested(support::chain(depth, 2, "7")));
  EXPECT_EQ(state, support::chain(depth, 2, 7));
}

TEST(ReplaceValues, NamesTheFirstOfManyUnknownPaths) {
  constexpr int depth = 100000;
  State state;
  EXPECT_THAT([&] { replace_values(state, to_nested(support::chain(depth, 2))); },
              ThrowsMessage<StateError>(HasSubstr("Unknown: a, b/a, b/b/a, ")));
}

}  // namespace
}  // namespace strata
