// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "strata/nn/linear.h"
#include "strata/tensor/create.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Tree, OfTheDocumentation) {
  Rngs rngs(0);
  EXPECT_EQ(tree(Linear(4, 4, rngs)),
            "           Linear                      20\n"
            "├─ bias    Param float32[4]             4\n"
            "└─ kernel  Param float32[4, 4]         16\n");
}

struct Inner {
  std::vector<Param> list;
  BatchStat mean{zeros({3}), tagged("t")};
  STRATA_FIELDS(list, mean)
};
struct Outer {
  Inner first{{Param(zeros({2})), Param(zeros({3}))}};
  Param last{zeros({5})};
  STRATA_FIELDS(first, last)
};

TEST(Tree, AddsUpWhatIsBelow) {
  const std::vector<std::string> lines = lines_of(tree(Outer()));
  ASSERT_EQ(lines.size(), 7U);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"Outer", " 13"}, {"first", " 8"}, {"list", " 5"}, {"0", " 2"}, {"1", " 3"}, {"mean", " 3"}, {"last", " 5"}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], testing::AllOf(HasSubstr(expected[i].first), testing::EndsWith(expected[i].second)));
  }
}

TEST(Tree, DrawsLevels) {
  const std::vector<std::string> lines = lines_of(tree(Outer()));
  EXPECT_THAT(lines[1], testing::StartsWith("├─ first"));
  EXPECT_THAT(lines[2], testing::StartsWith("│  ├─ list"));
  EXPECT_THAT(lines[4], testing::StartsWith("│  │  └─ 1"));
  EXPECT_THAT(lines[5], testing::StartsWith("│  └─ mean"));
  EXPECT_THAT(lines[6], testing::StartsWith("└─ last"));
}

TEST(Tree, ShowsMetadata) { EXPECT_THAT(tree(Outer()), HasSubstr("BatchStat float32[3]  tag='t'")); }

TEST(Tree, ShowsSharedObjectsOnce) {
  struct Tied {
    std::shared_ptr<Param> a = std::make_shared<Param>(zeros({4}));
    std::shared_ptr<Param> b = a;
    STRATA_FIELDS(a, b)
  };
  const std::vector<std::string> lines = lines_of(tree(Tied()));
  EXPECT_THAT(lines[0], testing::EndsWith(" 4"));
  EXPECT_THAT(lines[2], HasSubstr("the same as a"));
}

struct Cycle {
  std::shared_ptr<Cycle> next;
  STRATA_FIELDS(next)
};

TEST(Tree, EndsAtCycles) {
  const auto cycle = std::make_shared<Cycle>();
  cycle->next = cycle;
  EXPECT_THAT(tree(*cycle), HasSubstr("the same as the root"));
  cycle->next = nullptr;
}

}  // namespace
}  // namespace strata::nn
