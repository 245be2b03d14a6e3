// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/state_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "strata/filters/explain.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const State some_state{{{"a"}, Param(zeros({2}))}, {{"b"}, BatchStat(zeros({2}))}, {{"c"}, Cache(zeros({2}))}};

TEST(StateAxes, TheFirstFilterThatTakesAVariableDecides) {
  const StateAxes axes{{of_type<BatchStat>, shared}, {path_contains("a"), 1}, {of_type<Param>, 0}, {rest, -1}};
  EXPECT_THAT(axes.axes_of(some_state), ElementsAre(1, shared, -1));
}

TEST(StateAxes, ANumberIsTheAxisOfAll) { EXPECT_THAT(StateAxes(2).axes_of(some_state), ElementsAre(2, 2, 2)); }

TEST(StateAxes, AreComparedByFiltersAndAxesInOrder) {
  const StateAxes axes{{of_type<Param>, 0}, {rest, shared}};
  EXPECT_EQ(axes, (StateAxes{{of_type<Param>, 0}, {rest, shared}}));
  EXPECT_NE(axes, (StateAxes{{of_type<Param>, 1}, {rest, shared}}));
  EXPECT_NE(axes, (StateAxes{{of_type<Param>, 0}, {everything, shared}}));
  EXPECT_EQ(StateAxes(0), (StateAxes{{rest, 0}}));
}

TEST(StateAxes, ArePrinted) {
  std::ostringstream out;
  out << StateAxes{{of_type<Param> && path_contains("a"), -1}, {rest, shared}};
  EXPECT_EQ(out.str(), "StateAxes({Param & path('a'): -1, rest: shared})");
}

TEST(StateAxes, RestStandsAtTheEnd) {
  EXPECT_THROW((StateAxes{{rest, 0}, {of_type<Param>, 1}}), FilterError);
  EXPECT_NO_THROW((StateAxes{{everything, 0}, {of_type<Param>, 1}}));
}

TEST(StateAxes, ThereIsAtLeastOneEntry) { EXPECT_THROW(StateAxes(std::vector<StateAxes::Entry>{}), ValueError); }

TEST(StateAxes, VariablesThatNoFilterTakesAreNamed) {
  const StateAxes axes{{of_type<Param>, 0}};
  EXPECT_THAT([&] { (void)axes.axes_of(some_state); },
              ThrowsMessage<StateError>(HasSubstr("b (BatchStat float32[2]), c (Cache float32[2])")));
}

TEST(StateAxes, AreExplained) {
  const StateAxes axes{{everything, 0}, {of_type<BatchStat>, shared}, {rest, 1}};
  const Explanation explanation = explain(some_state, axes);
  EXPECT_EQ(explanation.groups[1].emptiness, Explanation::Emptiness::emptied);
  EXPECT_FALSE(explanation.warnings().empty());
}

}  // namespace
}  // namespace strata::nn
