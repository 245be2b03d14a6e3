// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "filters/random_filters.h"
#include "strata/filters/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Emptiness = Explanation::Emptiness;

State model() {
  return State{{{"decoder", "kernel"}, Param(ones({2, 3}), tagged("lora"))},
               {{"encoder", "kernel"}, Param(ones({4, 5}))},
               {{"norm", "mean"}, BatchStat(ones({3}))}};
}

TEST(Explain, SaysWhichFilterTookEachVariableAndWhichPartDecided) {
  const Explanation explanation = explain(model(), with_tag("lora") || path_contains("encoder"), rest);
  ASSERT_EQ(explanation.rows.size(), 3U);
  EXPECT_EQ(explanation.rows[0].path, (Path{"decoder", "kernel"}));
  EXPECT_EQ(explanation.rows[0].variable, "Param float32[2, 3]");
  EXPECT_EQ(explanation.rows[0].group, 0U);
  EXPECT_EQ(explanation.rows[0].reason, with_tag("lora"));
  EXPECT_EQ(explanation.rows[1].reason, path_contains("encoder"));
  EXPECT_EQ(explanation.rows[2].group, 1U);
  EXPECT_EQ(explanation.rows[2].reason, rest);
}

TEST(Explain, AConjunctionDecidesWithAllItsPartsANegationWithWhatFails) {
  const Explanation explanation =
      explain(model(), of_type<Param> && (with_tag("x") || path_like("enc")), !(of_type<Param> && everything), rest);
  EXPECT_EQ(explanation.rows[1].reason, (of_type<Param> && path_like("enc")));
  EXPECT_EQ(explanation.rows[2].reason, !of_type<Param>);
}

TEST(Explain, ListsTheOtherFiltersThatWantedAVariable) {
  const Explanation explanation = explain(model(), of_type<Param>, with_tag("lora"), rest);
  EXPECT_THAT(explanation.rows[0].also, ElementsAre(1, 2));
  EXPECT_THAT(explanation.rows[1].also, ElementsAre(2));
  EXPECT_THAT(explanation.rows[2].also, IsEmpty());
}

TEST(Explain, CountsVariablesAndElements) {
  const Explanation explanation = explain(model(), of_type<Param>, rest);
  EXPECT_EQ(explanation.groups[0].variables, 2);
  EXPECT_EQ(explanation.groups[0].elements, 26);
  EXPECT_EQ(explanation.groups[1].elements, 3);
  EXPECT_EQ(explanation.groups[1].emptiness, Emptiness::none);
}

TEST(Explain, AGroupThatEarlierFiltersEmptied) {
  const Explanation explanation = explain(model(), path_contains("decoder"), of_type<Param>, with_tag("lora"), rest);
  EXPECT_EQ(explanation.groups[2].emptiness, Emptiness::emptied);
  EXPECT_THAT(explanation.groups[2].emptied_by, ElementsAre(0));
  EXPECT_THAT(explanation.warnings(), ElementsAre("Filter 2, `tag('lora')`, gets nothing: all that it takes goes to "
                                                  "filter 0 before it."));
}

TEST(Explain, AFilterThatAsksForATagThatOccursNowhere) {
  const Explanation explanation = explain(model(), of_type<Param> && with_tag("lroa"), rest);
  EXPECT_EQ(explanation.groups[0].emptiness, Emptiness::unknown);
  EXPECT_THAT(explanation.groups[0].unknown, ElementsAre(with_tag("lroa")));
  EXPECT_THAT(explanation.warnings(),
              ElementsAre("Filter 0, `Param & tag('lroa')`, names what no variable has: `tag('lroa')`. Did you mean "
                          "`lora`?"));
}

TEST(Explain, AFilterWhosePartsNeverHoldTogether) {
  const Explanation explanation = explain(model(), of_type<BatchStat> && with_tag("lora"), rest);
  EXPECT_EQ(explanation.groups[0].emptiness, Emptiness::no_overlap);
  EXPECT_THAT(explanation.warnings(),
              ElementsAre("Filter 0, `BatchStat & tag('lora')`, takes no variable of this state."));
}

TEST(Explain, WarnsOfNamesThatOccurNowhereInGroupsThatAreNotEmpty) {
  const Explanation explanation = explain(model(), of_type<Param> && !path_contains("encodr"), rest);
  EXPECT_EQ(explanation.groups[0].variables, 2);
  EXPECT_THAT(explanation.warnings(), ElementsAre(HasSubstr("Did you mean `encoder`?")));
}

TEST(Explain, WarnsOfKindsThatOccurNowhere) {
  EXPECT_THAT(explain(model(), of_type<Cache>, rest).warnings(),
              ElementsAre("Filter 0, `Cache`, names what no variable has: `Cache`."));
}

TEST(Explain, HasNothingToWarnOfInAnOrdinarySplit) {
  EXPECT_THAT(explain(model(), of_type<Param>, of_type<BatchStat>).warnings(), IsEmpty());
  EXPECT_THAT(explain(model(), of_type<Param>, of_type<BatchStat>, rest).warnings(), IsEmpty());
  EXPECT_THAT(explain(State(), of_type<Param>, rest).warnings(), IsEmpty());
}

// cases/state-04: the general kind first leaves the special one nothing; the peer gives no warning.
TEST(Explain, WarnsOfAKindAfterItsBase) {
  const State state{{{"b"}, LoRAParam(ones({1}))}, {{"c"}, BatchStat(ones({1}))}};
  EXPECT_THAT(explain(state, of_type<Param>, of_type<LoRAParam>, rest).warnings(),
              ElementsAre(HasSubstr("Filter 1, `LoRAParam`, gets nothing: all that it takes goes to filter 0")));
}

// cases/state-06: the constructed form and a list with the catch-all are accepted; a warning is welcome.
TEST(Explain, WarnsOfFiltersAfterEverything) {
  EXPECT_THAT(explain(model(), everything, of_type<BatchStat>).warnings(),
              ElementsAre(HasSubstr("Filter 1, `BatchStat`, gets nothing")));
  EXPECT_THAT(explain(model(), any(rest), of_type<BatchStat>).warnings(),
              ElementsAre(HasSubstr("Filter 1, `BatchStat`, gets nothing")));
}

TEST(Explain, NamesTheNearestFilterOfAVariableThatNoneTakes) {
  const Explanation explanation =
      explain(model(), of_type<Param> && path_contains("encoder"), of_type<Param> && with_tag("lora") && of_rank == 3);
  EXPECT_THAT(explanation.unmatched(), ElementsAre(Path{"decoder", "kernel"}, Path{"norm", "mean"}));
  ASSERT_TRUE(explanation.rows[0].nearest.has_value());
  EXPECT_EQ(explanation.rows[0].nearest->filter, 0U);  // half of it, as of the other one, and earlier
  EXPECT_EQ(explanation.rows[0].nearest->failed, path_contains("encoder"));
  EXPECT_FALSE(explanation.rows[2].nearest.has_value());
}

TEST(Explain, CountsSharesOfListsByTheirMembers) {
  const Explanation explanation = explain(model(), of_type<BatchStat> && path_contains("decoder"),
                                          all(of_type<Param>, with_tag("lora"), of_rank == 3));
  EXPECT_EQ(explanation.rows[0].nearest->filter, 1U);  // two of three
  EXPECT_EQ(explanation.rows[0].nearest->failed, (of_rank == 3));
}

TEST(Explain, KeepsTheRulesOfSplits) {
  EXPECT_THROW((void)explain(model(), rest, of_type<Param>), FilterError);
  EXPECT_THROW((void)explain(model(), std::span<const Filter>()), ValueError);
}

TEST(Explain, IsPrintedAsTables) {
  std::ostringstream out;
  out << explain(model(), of_type<Param> && !with_tag("lora"), of_type<Param>, with_tag("lora"));
  EXPECT_EQ(out.str(),
            "path            variable              group  because of                          also wanted by\n"
            "decoder/kernel  Param float32[2, 3]   1      Param                               2\n"
            "encoder/kernel  Param float32[4, 5]   0      Param & !tag('lora')                1\n"
            "norm/mean       BatchStat float32[3]  -      nearest is 0, which fails by Param\n"
            "\n"
            "group  filter                variables  elements\n"
            "0      Param & !tag('lora')  1          20\n"
            "1      Param                 1          6\n"
            "2      tag('lora')           0          0         emptied by 1\n"
            "\n"
            "2 warnings\n"
            "- Filter 2, `tag('lora')`, gets nothing: all that it takes goes to filter 1 before it.\n"
            "- No filter takes norm/mean.\n");
}

TEST(Explain, OfFiltersThatShareParts) {
  Filter filter = with_tag("lora");
  for (int level = 0; level < 100; ++level) filter = any(all(filter, everything), filter);
  EXPECT_EQ(explain(model(), filter, rest).rows[0].group, 0U);
  EXPECT_LT(to_string(explain(model(), filter, filter)).size(), 10'000U);
}

RC_GTEST_PROP(ExplainProperty, AgreesWithTheSplitAndItsReasonsHold, ()) {
  const State state = testing_filters::any_state();
  const std::vector<Filter> filters{any(testing_filters::any_filter()), any(testing_filters::any_filter()), rest};
  const Explanation explanation = explain(state, filters);
  const std::vector<State> groups = split_groups(state, filters, Leftover::error);
  for (const Explanation::Row& row : explanation.rows) {
    RC_ASSERT(groups[row.group.value()].contains(row.path));
    RC_ASSERT((*row.reason)(row.path, state.at(row.path)));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    RC_ASSERT(explanation.groups[i].variables == groups[i].size());
    RC_ASSERT(explanation.groups[i].elements == groups[i].num_elements());
    RC_ASSERT((explanation.groups[i].emptiness == Emptiness::none) == !groups[i].empty());
  }
}

RC_GTEST_PROP(ExplainProperty, WhatFailedDoesNotHold, ()) {
  const State state = testing_filters::any_state();
  const std::vector<Filter> filters{any(testing_filters::any_filter()), testing_filters::any_filter() && nothing};
  for (const Explanation::Row& row : explain(state, filters).rows) {
    if (row.nearest) RC_ASSERT_FALSE(row.nearest->failed(row.path, state.at(row.path)));
  }
}

}  // namespace
}  // namespace strata
