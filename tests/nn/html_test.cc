// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "strata/filters/parse.h"
#include "strata/nn/linear.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++result;
  return result;
}

TEST(Html, NeedsNothingElse) {
  Rngs rngs(0);
  const std::string page = html(Linear(2, 3, rngs));
  for (const char* part : {"http:", "https:", "src=", "href=", "@import", "url(", "@title@", "@data@", "@view.js@"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("<title>Linear</title>"));
}

TEST(Html, HoldsRowsAndKinds) {
  const std::string page = html(State{{{"a", 0}, Param(zeros({2, 3}), tagged("t"))}});
  EXPECT_THAT(page, HasSubstr("\"key\":\"a\""));
  EXPECT_THAT(page, HasSubstr("\"key\":[\"0\"]"));
  EXPECT_THAT(page, HasSubstr("\"shape\":[2,3],\"tag\":\"t\""));
  EXPECT_THAT(page, HasSubstr("[\"params\","));
}

TEST(Html, HostileTextsStayTexts) {
  const std::string hostile = "</script><script>alert(1)</script><!--@data@\"'\\\n\x1b\xff&";
  const std::string page = html(State{{{hostile}, Param(zeros({1}), tagged(hostile))}}, {.title = hostile});
  EXPECT_EQ(count(page, "<script"), 2U);
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_EQ(count(page, "<!--"), 0U);
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, HasSubstr("\"key\":\"\\u003c/script\\u003e"));
  EXPECT_THAT(page, HasSubstr("\\udcff"));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;"));
}

TEST(Html, HoldsFiltersAsTexts) {
  const std::string page = html(State(), {.filters = {of_type<Param> && with_tag("</script>"), rest}});
  EXPECT_THAT(page, HasSubstr(R"x("filters":["Param \u0026 tag('\u003c/script\u003e')","rest"])x"));
}

TEST(Html, RefusesFiltersThatNoTextNames) {
  const Filter predicate = [](const Path&, const Variable&) { return true; };
  EXPECT_THROW((void)html(State(), {.filters = {predicate}}), FilterError);
  static const Kind unknown("Unknown", &kind_of<Variable>());
  EXPECT_THROW((void)html(State(), {.filters = {of_kind(unknown)}}), FilterError);
  EXPECT_THROW((void)html(State(), {.filters = {rest, of_type<Param>}}), FilterError);
}

TEST(Html, NamesSharedObjects) {
  struct Tied {
    std::shared_ptr<Param> a = std::make_shared<Param>(zeros({4}));
    std::shared_ptr<Param> b = a;
    STRATA_FIELDS(a, b)
  };
  EXPECT_THAT(html(Tied()), HasSubstr("the same as a"));
}

TEST(Html, GrowsWithTheNumberOfVariablesAlone) {
  Path path;
  std::vector<State::Entry> entries;
  for (int i = 0; i < 20'000; ++i) {
    entries.push_back({path / "v", Param(zeros({1}))});
    path = path / "n";
  }
  EXPECT_LT(html(State(std::move(entries))).size(), 40'000U * 200);
}

}  // namespace
}  // namespace strata::nn
