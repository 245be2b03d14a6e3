// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "filters/random_filters.h"
#include "strata/filters/parse.h"
#include "strata/state/combine.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct SpecialParam : Param {
  STRATA_KIND(SpecialParam, Param)
};

std::vector<std::string> paths_of(const State& state) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : state) paths.push_back(to_string(path));
  return paths;
}

std::vector<std::vector<std::string>> groups_of(const State& state, const std::vector<Filter>& filters,
                                                Leftover leftover = Leftover::error) {
  std::vector<std::vector<std::string>> groups;
  for (const State& group : split_groups(state, filters, leftover)) groups.push_back(paths_of(group));
  return groups;
}

using Groups = std::vector<std::vector<std::string>>;

// The module of cases/state-04.
State abcd() {
  return State{{{"a"}, Param(scalar(1.0F))},
               {{"b"}, SpecialParam(scalar(2.0F))},
               {{"c"}, BatchStat(scalar(3.0F))},
               {{"d"}, SpecialParam(scalar(4.0F))}};
}

TEST(Split, FirstMatchingFilterTakesTheVariable) {
  const auto [params, special, others] = split(abcd(), of_type<Param>, of_type<SpecialParam>, rest);
  EXPECT_THAT(paths_of(params), ElementsAre("a", "b", "d"));
  EXPECT_THAT(paths_of(special), ElementsAre());
  EXPECT_THAT(paths_of(others), ElementsAre("c"));
}

TEST(Split, SpecialFirst) {
  EXPECT_EQ(groups_of(abcd(), {of_type<SpecialParam>, of_type<Param>, rest}), (Groups{{"b", "d"}, {"a"}, {"c"}}));
}

TEST(Split, GroupsKeepKindsMetadataAndValues) {
  const State state{{{"a"}, SpecialParam(ones({2}), tagged("t"))}};
  const auto [group] = split(state, of_type<Param>);
  EXPECT_EQ(group, state);
  EXPECT_TRUE(group.at({"a"}).value().shares_elements_with(state.at({"a"}).value()));
}

TEST(Split, WritingToAGroupDoesNotChangeTheState) {
  const State state = abcd();
  auto [group] = split(state, everything);
  group.at({"a"}).set_value(scalar(9.0F));
  EXPECT_EQ(state, abcd());
}

// cases/state-04: general first, special first, not exhaustive, selecting is not splitting.
TEST(Split, OfAKindAndOneDerivedFromIt) {
  EXPECT_EQ(groups_of(abcd(), {of_type<Param>, of_type<SpecialParam>, rest}), (Groups{{"a", "b", "d"}, {}, {"c"}}));
  EXPECT_EQ(groups_of(abcd(), {of_type<SpecialParam>, of_type<Param>, rest}), (Groups{{"b", "d"}, {"a"}, {"c"}}));
  EXPECT_THAT([] { (void)split(abcd(), of_type<SpecialParam>, of_type<Param>); },
              ThrowsMessage<StateError>(HasSubstr("no filter: c (BatchStat float32[])")));
  EXPECT_EQ(groups_of(abcd(), {of_type<SpecialParam>, of_type<BatchStat>}, Leftover::drop),
            (Groups{{"b", "d"}, {"c"}}));
}

TEST(Split, LeftoversAreAnErrorThatNamesThem) {
  EXPECT_THAT([] { (void)split(abcd(), of_type<SpecialParam>); },
              ThrowsMessage<StateError>(AllOf(HasSubstr("2 variables match no filter"),
                                              HasSubstr("a (Param float32[]), c (BatchStat float32[])"),
                                              HasSubstr("Add strata::rest as the last filter"))));
}

TEST(Split, LeftoversMayBeDropped) {
  EXPECT_EQ(groups_of(abcd(), {of_type<SpecialParam>, of_type<BatchStat>}, Leftover::drop),
            (Groups{{"b", "d"}, {"c"}}));
}

TEST(Split, NeedsAFilter) { EXPECT_THROW((void)split_groups(abcd(), {}, Leftover::drop), ValueError); }

TEST(Split, OfAnEmptyStateGivesEmptyGroups) { EXPECT_EQ(groups_of(State(), {of_type<Param>, rest}), (Groups{{}, {}})); }

TEST(Split, TheSameFilterTwiceTakesNothingTheSecondTime) {
  EXPECT_EQ(groups_of(abcd(), {of_type<Variable>, of_type<Variable>}), (Groups{{"a", "b", "c", "d"}, {}}));
}

// cases/state-06, each check.
TEST(SplitPlacement, RestInTheMiddleIsAnErrorWithItsIndex) {
  EXPECT_THAT([] { (void)split(abcd(), of_type<Param>, rest, of_type<BatchStat>); },
              ThrowsMessage<FilterError>(AllOf(HasSubstr("`rest` is filter 1 of 3"), HasSubstr("`BatchStat`"))));
  EXPECT_THAT([] { (void)split(abcd(), rest, of_type<BatchStat>); },
              ThrowsMessage<FilterError>(HasSubstr("`rest` is filter 0 of 2")));
}

TEST(SplitPlacement, RestMayBeFollowedByRest) {
  EXPECT_EQ(groups_of(abcd(), {of_type<BatchStat>, rest, rest}), (Groups{{"c"}, {"a", "b", "d"}, {}}));
}

TEST(SplitPlacement, EverythingMayStandAnywhere) {
  EXPECT_EQ(groups_of(abcd(), {everything, of_type<BatchStat>}), (Groups{{"a", "b", "c", "d"}, {}}));
}

TEST(SplitPlacement, RestWithinAnotherFilterMayStandAnywhere) {
  EXPECT_EQ(groups_of(abcd(), {any(rest), of_type<BatchStat>}), (Groups{{"a", "b", "c", "d"}, {}}));
  EXPECT_EQ(groups_of(abcd(), {!rest, everything}), (Groups{{}, {"a", "b", "c", "d"}}));
}

TEST(SplitPlacement, NothingAndTheEmptyListMatchNothing) {
  EXPECT_EQ(groups_of(abcd(), {any(), nothing, rest}), (Groups{{}, {}, {"a", "b", "c", "d"}}));
}

TEST(SplitPlacement, IsCheckedBeforeAnyPredicateRuns) {
  bool ran = false;
  const Filter predicate = [&ran](const Path&, const Variable&) { return ran = true; };
  EXPECT_THROW((void)split(abcd(), predicate, rest, nothing), FilterError);
  EXPECT_FALSE(ran);
}

TEST(FilterState, KeepsWhatTheFilterTakes) {
  EXPECT_THAT(paths_of(filter(abcd(), of_type<BatchStat>)), ElementsAre("c"));
  EXPECT_EQ(filter(abcd(), rest), abcd());
  EXPECT_TRUE(filter(abcd(), nothing).empty());
}

// cases/state-05, each check.
class PathFilters : public testing::Test {
 protected:
  static State layers() {
    State state{{{"conv1"}, Param(scalar(1.0F))},
                {{"conv10"}, Param(scalar(2.0F))},
                {{"fc1"}, SpecialParam(scalar(3.0F))},
                {{"stats"}, BatchStat(scalar(4.0F))}};
    for (int i = 0; i < 12; ++i) state.set(Path{"blocks", i}, Param(scalar(static_cast<float>(i))));
    return state;
  }
};

TEST_F(PathFilters, PartialText) {
  EXPECT_THAT(paths_of(filter(layers(), path_like("conv"))), ElementsAre("conv1", "conv10"));
}

TEST_F(PathFilters, ExactInteger) {
  EXPECT_THAT(paths_of(filter(layers(), path_contains(1))), ElementsAre("blocks/1"));
}

TEST_F(PathFilters, ExactTextThatLooksLikeTheInteger) {
  EXPECT_THAT(paths_of(filter(layers(), path_contains("1"))), ElementsAre());
}

TEST_F(PathFilters, PartialIntegerIsMatchedAsText) {
  EXPECT_THAT(paths_of(filter(layers(), path_like("1"))),
              ElementsAre("blocks/1", "blocks/10", "blocks/11", "conv1", "conv10", "fc1"));
}

TEST_F(PathFilters, EmptyTextExactAndPartial) {
  EXPECT_THAT(paths_of(filter(layers(), path_contains(""))), ElementsAre());
  EXPECT_EQ(filter(layers(), path_like("")), layers());
}

TEST_F(PathFilters, ListedPaths) {
  EXPECT_THAT(paths_of(filter(layers(), path_in({{"blocks", 3}, {"fc1"}}))), ElementsAre("blocks/3", "fc1"));
}

using testing_filters::any_filter;
using testing_filters::any_state;

RC_GTEST_PROP(SplitProperty, GroupsAreDisjointAndTogetherTheWhole, ()) {
  const State state = any_state();
  const std::vector<Filter> filters{any(any_filter()), any(any_filter()), rest};
  const std::vector<State> groups = split_groups(state, filters, Leftover::error);
  RC_ASSERT(merge(groups) == state);  // which refuses a path that two groups hold
}

RC_GTEST_PROP(SplitProperty, EachVariableIsInTheGroupOfTheFirstFilterThatTakesIt, ()) {
  const State state = any_state();
  const std::vector<Filter> filters{any(any_filter()), any(any_filter()), rest};
  const std::vector<State> groups = split_groups(state, filters, Leftover::error);
  for (const auto& [path, variable] : state) {
    std::size_t first = 0;
    while (!filters[first](path, variable)) ++first;
    RC_ASSERT(groups[first].contains(path));
  }
}

TEST(Split, AsksAPredicateOnceAboutEachVariable) {
  int calls = 0;
  const Filter counts = [&calls](const Path&, const Variable&) { return ++calls > 1000; };
  (void)split(abcd(), counts && nothing, counts && of_type<SpecialParam>, counts, counts || of_type<BatchStat>, rest);
  EXPECT_EQ(calls, 4);
}

TEST(Split, OfFiltersThatShareParts) {
  Filter filter = of_type<Param> && path_contains("a");
  for (int level = 0; level < 200; ++level) filter = any(all(filter, path_like("a")), all(filter, !with_tag("x")));
  EXPECT_EQ(groups_of(abcd(), {filter, rest}), (Groups{{"a"}, {"b", "c", "d"}}));
}

TEST(Split, LooksAtKeysAgainWhenPathsChange) {
  const State state{{{"a", "x", "k"}, Param(scalar(1.0F))}, {{"a", "y"}, Param(scalar(1.0F))},
                    {{"b", "k"}, BatchStat(scalar(1.0F))},  {{"b", "x", "k"}, Param(scalar(1.0F))},
                    {{"c"}, Param(scalar(1.0F))},           {{"d", "x"}, Param(scalar(1.0F))}};
  EXPECT_EQ(groups_of(state, {of_type<Param> && path_contains("x"), path_contains("k"), rest}),
            (Groups{{"a/x/k", "b/x/k", "d/x"}, {"b/k"}, {"a/y", "c"}}));
}

RC_GTEST_PROP(FilterProperty, NegationTakesTheOthers, ()) {
  const State state = any_state();
  const Filter f = any_filter();
  RC_ASSERT(filter(state, f).size() + filter(state, !f).size() == state.size());
}

RC_GTEST_PROP(FilterProperty, EqualFiltersHashAlikeAndPrintAlike, ()) {
  const Filter a = any_filter();
  const Filter b = parse_filter(to_string(a));  // equal, of other parts
  RC_ASSERT(a == b);
  RC_ASSERT(a.hash() == b.hash());
  RC_ASSERT(to_string(a) == to_string(b));
}

}  // namespace
}  // namespace strata
