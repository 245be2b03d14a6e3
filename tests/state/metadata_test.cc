// SPDX-License-Identifier: Apache-2.0
#include "strata/state/metadata.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Metadata, FindsValuesByName) {
  const Metadata metadata{{"rank", Index{4}}, {"frozen", true}, {"scale", 0.5}, {"tag", "lora"}};
  EXPECT_EQ(std::get<Index>(*metadata.find("rank")), 4);
  EXPECT_EQ(std::get<bool>(*metadata.find("frozen")), true);
  EXPECT_EQ(std::get<double>(*metadata.find("scale")), 0.5);
  EXPECT_EQ(std::get<std::string>(*metadata.find("tag")), "lora");
  EXPECT_EQ(metadata.find("other"), nullptr);
}

TEST(Metadata, TextLiteralsAreTextsNotFlags) {
  Metadata metadata;
  metadata.set("tag", "a");
  EXPECT_TRUE(std::holds_alternative<std::string>(*metadata.find("tag")));
}

TEST(Metadata, CopiesDoNotSeeLaterChanges) {
  Metadata metadata = tagged("a");
  const Metadata copy = metadata;
  metadata.set("tag", "b");
  EXPECT_EQ(copy, tagged("a"));
  EXPECT_EQ(metadata, tagged("b"));
}

TEST(Metadata, EraseOfTheLastValueMakesItEmpty) {
  Metadata metadata = tagged("a");
  metadata.erase("other");
  EXPECT_FALSE(metadata.empty());
  metadata.erase("tag");
  EXPECT_TRUE(metadata.empty());
  EXPECT_EQ(metadata, Metadata());
}

TEST(Metadata, EqualIfNamesTypesAndValuesAre) {
  EXPECT_EQ((Metadata{{"a", Index{1}}, {"b", true}}), (Metadata{{"b", true}, {"a", Index{1}}}));
  EXPECT_NE((Metadata{{"a", Index{1}}}), (Metadata{{"a", 1.0}}));
  EXPECT_NE((Metadata{{"a", Index{1}}}), (Metadata{{"b", Index{1}}}));
}

TEST(Metadata, PrintsInTheOrderOfNames) {
  EXPECT_EQ(to_string(Metadata{{"tag", "lora"}, {"rank", Index{4}}, {"frozen", true}, {"scale", 0.5}}),
            "frozen=true, rank=4, scale=0.5, tag='lora'");
  EXPECT_EQ(to_string(Metadata()), "");
}

}  // namespace
}  // namespace strata
