// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "strata/nn/linear.h"
#include "strata/nn/split.h"
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

TEST(Tree, OfAState) {
  const State state{{{"a", 0, "kernel"}, Param(zeros({2, 3}))},
                    {{"a", 0, "bias"}, Param(zeros({3}))},
                    {{"a", 1}, BatchStat(zeros({2}), tagged("t"))},
                    {{"step"}, Variable(zeros({}, DType::int32))}};
  EXPECT_EQ(tree(state),
            "                 State                                 12\n"
            "├─ a                                                   11\n"
            "│  ├─ 0                                                 9\n"
            "│  │  ├─ bias    Param float32[3]                       3\n"
            "│  │  └─ kernel  Param float32[2, 3]                    6\n"
            "│  └─ 1          BatchStat float32[2]  tag='t'          2\n"
            "└─ step          Variable int32[]                       1\n");
}

TEST(Tree, OfAStateIsThatOfItsModule) {
  const std::vector<std::string> module = lines_of(tree(Outer()));
  const std::vector<std::string> state = lines_of(tree(nn::state(Outer())));
  ASSERT_EQ(module.size(), state.size());
  for (std::size_t i = 1; i < module.size(); ++i) {
    EXPECT_EQ(module[i].substr(0, module[i].find(' ', 12)), state[i].substr(0, state[i].find(' ', 12)));
  }
}

TEST(Tree, OfAVariableAtTheRootAndOfNothing) {
  EXPECT_THAT(tree(State{{Path(), Param(zeros({2}))}}), HasSubstr("Param float32[2]"));
  EXPECT_EQ(lines_of(tree(State())).size(), 1U);
}

constexpr Index deep = 100'000;

struct Chain {
  Param value{zeros({1})};
  std::shared_ptr<Chain> next;
  STRATA_FIELDS(next, value)
};

// Taken down in a loop: destructors of a chain recurse.
void take_down(std::shared_ptr<Chain> chain) {
  while (chain) chain = std::exchange(chain->next, nullptr);
}

TEST(Tree, OfALongChainGrowsWithItsLengthAlone) {
  const auto chain = std::make_shared<Chain>();
  Chain* end = chain.get();
  for (Index i = 1; i < deep; ++i) end = (end->next = std::make_shared<Chain>()).get();
  const std::string text = tree(*chain);
  EXPECT_LT(text.size(), std::size_t{2 * deep} * 300);
  EXPECT_THAT(text, HasSubstr("└─ (99999) value"));
  const std::string state_text = tree(nn::state(*chain));
  EXPECT_LT(state_text.size(), std::size_t{2 * deep} * 300);
  EXPECT_THAT(state_text, HasSubstr("(99999) next"));
  EXPECT_LT(to_string(graph_def(*chain)).size(), std::size_t{2 * deep} * 300);
  take_down(chain);
}

TEST(Tree, NamesDeepSharedObjectsInShort) {
  struct Ends {
    std::shared_ptr<Chain> chain = std::make_shared<Chain>();
    std::shared_ptr<Chain> end;
    STRATA_FIELDS(chain, end)
  };
  Ends ends;
  ends.end = ends.chain;
  for (int i = 0; i < 50; ++i) ends.end = ends.end->next = std::make_shared<Chain>();
  EXPECT_THAT(tree(ends), HasSubstr("the same as .../next/next/"));
}

TEST(Tree, EscapesWhatIsNotPrintable) {
  const State state{{{"a\x1b[31m", "\n\xff"}, Param(zeros({1}), Metadata{{"tag", "t\x07"}, {"\xe2\x80\xae", true}})}};
  for (const std::string& text : {tree(state), to_string(state)}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07\xff"), std::string::npos) << text;
    EXPECT_THAT(text, HasSubstr("'a\\x1b[31m'"));
    EXPECT_THAT(text, HasSubstr("'\\n\\xff'"));
    EXPECT_THAT(text, HasSubstr("tag='t\\x07'"));
    EXPECT_THAT(text, HasSubstr("\\xe2\\x80\\xae=true"));
  }
}

TEST(Tree, CutsLongKeys) {
  const State state{{{std::string(100'000, 'k')}, Param(zeros({1}))}, {{"x"}, Param(zeros({1}))}};
  EXPECT_LT(tree(state).size(), 1000U);
}

}  // namespace
}  // namespace strata::nn
