// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/nn/split.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Net {
  std::vector<Dropout> dropouts{Dropout(0.1), Dropout(0.2)};
  Dropout last{0.3};
  float rate = 0;
  std::string name = "net";
  std::optional<int> steps;
  std::uint8_t small = 0;
  STRATA_FIELDS(dropouts, last, rate, name, steps, small)
};

TEST(SetAttributes, SetsEveryFieldOfThatName) {
  Net net;
  EXPECT_EQ(set_attributes(net, {{"rate", 0.5}, {"deterministic", true}}), 7);
  EXPECT_EQ(net.dropouts[1].rate, 0.5);
  EXPECT_EQ(net.rate, 0.5F);
  EXPECT_TRUE(net.last.deterministic);
}

TEST(SetAttributes, OnlyInModulesThatTheFilterTakes) {
  Net net;
  EXPECT_EQ(set_attributes(net, {{"rate", 0.5}}, of_module<Dropout> && path_contains("dropouts")), 2);
  EXPECT_EQ(net.dropouts[0].rate, 0.5);
  EXPECT_EQ(net.last.rate, 0.3);
  EXPECT_EQ(net.rate, 0);
}

TEST(SetAttributes, TakesTextsIntegersAndOptionals) {
  Net net;
  EXPECT_EQ(set_attributes(net, {{"name", "other"}, {"steps", 7}, {"small", 255}, {"rate", 1}}), 7);
  EXPECT_EQ(net.name, "other");
  EXPECT_EQ(net.steps, 7);
  EXPECT_EQ(net.small, 255);
  EXPECT_EQ(net.rate, 1);
}

TEST(SetAttributes, NamesFieldsThatTheValueDoesNotFitAndChangesNothing) {
  Net net;
  EXPECT_THAT(
      [&] {
        set_attributes(net, {{"rate", 0.5}, {"steps", 0.5}, {"small", 256}, {"name", true}});
      },
      ThrowsMessage<DTypeError>(AllOf(HasSubstr("steps ("), HasSubstr("small="), HasSubstr("name=true"))));
  EXPECT_EQ(net.rate, 0);
  EXPECT_THROW(set_attributes(net, {{"dropouts", 1}}), StateError);
}

TEST(SetAttributes, NamesThatNoModuleHasAreErrorsUnlessAsked) {
  Net net;
  EXPECT_THAT(
      [&] {
        set_attributes(net, {{"rate", 0.5}, {"rat", 0.5}});
      },
      ThrowsMessage<StateError>(HasSubstr("the field: rat.")));
  EXPECT_EQ(net.rate, 0);
  EXPECT_THROW(set_attributes(net, {{"name", "x"}}, of_module<Dropout>), StateError);
  EXPECT_EQ(set_attributes(net, {{"rat", 0.5}}, everything, Absent::ignore), 0);
}

TEST(SetMetadata, OfTheVariablesThatTheFilterTakes) {
  Rngs rngs(0);
  Linear layer(2, 2, rngs);
  EXPECT_EQ(set_metadata(layer, path_contains("bias"), "tag", "frozen"), 1);
  EXPECT_EQ(*layer.bias->tag(), "frozen");
  EXPECT_EQ(layer.kernel.tag(), nullptr);

  State values = state(layer);
  EXPECT_EQ(set_metadata(values, everything, "rank", 4), 2);
  EXPECT_EQ(*values.at({"kernel"}).metadata().find("rank"), MetadataValue(Index{4}));
  EXPECT_TRUE(layer.kernel.metadata().empty());
  EXPECT_THAT([&] { set_metadata(values, of_type<BatchStat>, "a", 1); },
              ThrowsMessage<StateError>(HasSubstr("`BatchStat`")));
}

}  // namespace
}  // namespace strata::nn
