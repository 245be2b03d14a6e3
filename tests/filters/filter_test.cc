// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <unordered_set>

#include "strata/filters/parse.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

struct SpecialParam : Param {
  STRATA_KIND(SpecialParam, Param)
};

const Filter before_main = of_type<Param> && !with_tag("a");  // NOLINT(cert-err58-cpp)

Variable param() { return Param(ones({1})); }
Variable tagged_param(const char* tag) { return Param(ones({1}), tagged(tag)); }
bool takes(const Filter& filter, const Path& path) { return filter(path, param()); }

TEST(Filter, EverythingRestAndNothing) {
  EXPECT_TRUE(takes(everything, {"a"}));
  EXPECT_TRUE(takes(rest, {"a"}));
  EXPECT_FALSE(takes(nothing, {"a"}));
}

TEST(Filter, OfTypeTakesTheKindAndWhatSpecialisesIt) {
  EXPECT_TRUE(Filter(of_type<Param>)({"a"}, SpecialParam(ones({1}))));
  EXPECT_TRUE(Filter(of_type<Variable>)({"a"}, BatchStat(ones({1}))));
  EXPECT_FALSE(Filter(of_type<SpecialParam>)({"a"}, param()));
  EXPECT_FALSE(Filter(of_type<BatchStat>)({"a"}, param()));
}

TEST(Filter, OfKindIsOfTypeAtRunTime) { EXPECT_EQ(of_kind(kind_of<Param>()), of_type<Param>); }

TEST(Filter, WithTagComparesTheWholeText) {
  EXPECT_TRUE(with_tag("lora")({"a"}, tagged_param("lora")));
  EXPECT_TRUE(with_tag("")({"a"}, tagged_param("")));
  EXPECT_FALSE(with_tag("lor")({"a"}, tagged_param("lora")));
  EXPECT_FALSE(with_tag("LoRA")({"a"}, tagged_param("lora")));
}

TEST(Filter, WithTagTakesNothingWithoutATag) {
  EXPECT_FALSE(with_tag("")({"a"}, param()));
  EXPECT_FALSE(with_tag("1")({"a"}, Param(ones({1}), Metadata{{"tag", Index{1}}})));
}

TEST(Filter, ATagIsNotAPath) { EXPECT_FALSE(takes(with_tag("a"), {"a"})); }

TEST(PathContains, ComparesWholeKeys) {
  EXPECT_TRUE(takes(path_contains("b"), {"a", "b", 0}));
  EXPECT_TRUE(takes(path_contains(0), {"a", "b", 0}));
  EXPECT_FALSE(takes(path_contains("conv"), {"conv1"}));
  EXPECT_FALSE(takes(path_contains(""), {"a"}));
}

TEST(PathContains, AnIntegerIsNotItsDigits) {
  EXPECT_FALSE(takes(path_contains(0), {"0"}));
  EXPECT_FALSE(takes(path_contains("0"), {0}));
}

TEST(PathLike, FindsTextWithinOneKey) {
  EXPECT_TRUE(takes(path_like("onv"), {"conv1"}));
  EXPECT_FALSE(takes(path_like("Conv"), {"conv1"}));
  EXPECT_FALSE(takes(path_like("a/b"), {"a", "b"}));
  EXPECT_FALSE(takes(path_like("ab"), {"a", "b"}));
}

TEST(PathLike, ReadsIntegersAsDigits) {
  EXPECT_TRUE(takes(path_like("1"), {10}));
  EXPECT_TRUE(takes(path_like("-1"), {-1}));
  EXPECT_FALSE(takes(path_like("1"), {20}));
}

TEST(PathLike, TheEmptyTextTakesAllButTheRoot) {
  EXPECT_TRUE(takes(path_like(""), {"a"}));
  EXPECT_FALSE(takes(path_like(""), Path()));
  EXPECT_FALSE(takes(path_contains(""), Path()));
}

TEST(PathIn, TakesThesePathsOnly) {
  const Filter filter = path_in({{"blocks", 3}, {"fc1"}});
  EXPECT_TRUE(takes(filter, {"blocks", 3}));
  EXPECT_FALSE(takes(filter, {"blocks", "3"}));
  EXPECT_FALSE(takes(filter, {"blocks", 3, "kernel"}));
  EXPECT_FALSE(takes(path_in({}), Path()));
}

TEST(AnyAll, AreWhatTheySay) {
  const Filter a = path_contains("a");
  const Filter b = path_contains("b");
  EXPECT_TRUE(takes(any(a, b), {"a"}));
  EXPECT_FALSE(takes(all(a, b), {"a"}));
  EXPECT_TRUE(takes(all(a, b), {"a", "b"}));
}

TEST(AnyAll, WithoutMembersTakeNothingAndEverything) {
  EXPECT_FALSE(takes(any(), {"a"}));
  EXPECT_TRUE(takes(all(), {"a"}));
  EXPECT_FALSE(takes(any(std::vector<Filter>{}), {"a"}));
}

TEST(AnyAll, StopAsSoonAsTheAnswerIsKnown) {
  int calls = 0;
  const Filter counts = [&calls](const Path&, const Variable&) { return ++calls > 0; };
  (void)takes(any(everything, counts), {"a"});
  (void)takes(all(nothing, counts), {"a"});
  EXPECT_EQ(calls, 0);
  (void)takes(any(nothing, counts), {"a"});
  EXPECT_EQ(calls, 1);
}

TEST(FilterOperators, WorkOnLiterals) {
  EXPECT_EQ((of_type<Param> && everything), all(of_type<Param>, everything));
  EXPECT_EQ((of_type<Param> || nothing), any(of_type<Param>, nothing));
  EXPECT_TRUE(takes(!nothing, {"a"}));
  EXPECT_EQ(before_main, (of_type<Param> && !with_tag("a")));
}

TEST(FilterOperators, AssociateToTheLeft) {
  const Filter a = path_contains("a");
  const Filter b = path_contains("b");
  const Filter c = path_contains("c");
  EXPECT_EQ((a && b && c), all(all(a, b), c));
  EXPECT_NE((a && b && c), all(a, b, c));
  EXPECT_EQ((a || (b && c)), any(a, all(b, c)));
}

TEST(FilterPredicate, TakesWhatTheFunctionSays) {
  const Filter is_rank_one = [](const Path&, const Variable& variable) { return variable.value().rank() == 1; };
  EXPECT_TRUE(takes(is_rank_one, {"a"}));
  EXPECT_FALSE(is_rank_one({"a"}, Param(scalar(1.0F))));
}

TEST(FilterPredicate, MayReturnWhatReadsAsTruth) {
  EXPECT_TRUE(takes([](const Path& path, const Variable&) { return path.depth(); }, {"a"}));
}

// Section 1.1 of the reference behaviour: the result is read for truth.
TEST(FilterPredicate, MayReturnWhatIsExplicitlyTrueOrFalse) {
  const Filter with_first_key = [](const Path& path, const Variable&) -> std::optional<Key> {
    if (path.empty()) return std::nullopt;
    return path[0];
  };
  EXPECT_TRUE(takes(with_first_key, {"a"}));
  EXPECT_FALSE(takes(with_first_key, Path()));
}

TEST(FilterPredicate, MustNotBeEmpty) {
  EXPECT_THROW((void)Filter(Predicate()), FilterError);
  EXPECT_THROW((void)Filter(std::function<int(const Path&, const Variable&)>()), FilterError);
  bool (*function)(const Path&, const Variable&) = nullptr;
  EXPECT_THROW((void)Filter(function), FilterError);
}

TEST(FilterPredicate, CombinesUnderItsOwnName) {
  const Predicate is_root = [](const Path& path, const Variable&) { return path.empty(); };
  const auto is_deep = [](const Path& path, const Variable&) { return path.depth() > 2; };
  EXPECT_TRUE(takes(!is_root, {"a"}));
  EXPECT_TRUE(takes(!is_deep, {"a"}));
  EXPECT_TRUE(takes(is_root || path_contains("a"), {"a"}));
  EXPECT_FALSE(takes(path_contains("a") && is_root, {"a"}));
  EXPECT_FALSE(takes(is_root || is_deep, {"a"}));
}

TEST(FilterEquality, IsByStructure) {
  EXPECT_EQ(with_tag("a"), with_tag("a"));
  EXPECT_NE(with_tag("a"), with_tag("b"));
  EXPECT_NE(path_contains("1"), path_contains(1));
  EXPECT_NE(path_contains("a"), path_like("a"));
  EXPECT_NE(any(with_tag("a"), with_tag("b")), any(with_tag("b"), with_tag("a")));
}

TEST(FilterEquality, SimplifiesNothing) {
  const Filter a = with_tag("a");
  EXPECT_NE(any(a), a);
  EXPECT_NE(any(a), all(a));
  EXPECT_NE(!!a, a);
  EXPECT_NE(!nothing, everything);
  EXPECT_NE(Filter(rest), everything);
  EXPECT_NE(any(), nothing);
}

TEST(FilterEquality, PathInIgnoresOrderAndRepetition) {
  EXPECT_EQ(path_in({{"a"}, {"b"}}), path_in({{"b"}, {"a"}, {"b"}}));
  EXPECT_EQ(path_in({{"a"}, {"b"}}).hash(), path_in({{"b"}, {"a"}, {"b"}}).hash());
}

TEST(FilterEquality, APredicateEqualsItsCopiesOnly) {
  const auto function = [](const Path&, const Variable&) { return true; };
  const Filter filter = function;
  const Filter copy = filter;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy, filter);
  EXPECT_EQ(copy.hash(), filter.hash());
  EXPECT_NE(Filter(function), filter);
}

TEST(FilterHash, EqualFiltersHashAlike) {
  const std::unordered_set<Filter> filters{
      of_type<Param>,   of_type<Param>,  rest, rest, with_tag("a") && nothing, with_tag("a") && nothing,
      path_contains(1), path_contains(1)};
  EXPECT_EQ(filters.size(), 4U);
}

TEST(FilterText, OfTheParts) {
  EXPECT_EQ(to_string(rest), "rest");
  EXPECT_EQ(to_string(everything), "everything");
  EXPECT_EQ(to_string(nothing), "nothing");
  EXPECT_EQ(to_string(of_type<SpecialParam>), "SpecialParam");
  EXPECT_EQ(to_string(with_tag("it's")), "tag('it\\'s')");
  EXPECT_EQ(to_string(path_contains("k")), "path('k')");
  EXPECT_EQ(to_string(path_contains(3)), "path(3)");
  EXPECT_EQ(to_string(path_contains("3")), "path('3')");
  EXPECT_EQ(to_string(path_like("k")), "path_like('k')");
  EXPECT_EQ(to_string(path_in({{"b"}, {"a", 0}})), "path_in('a/0', 'b')");
  EXPECT_EQ(to_string(Filter([](const Path&, const Variable&) { return true; })), "predicate");
}

TEST(FilterText, OfTheDesign) {
  EXPECT_EQ(to_string(of_type<Param> && path_contains("encoder") && !with_tag("lora")),
            "Param & path('encoder') & !tag('lora')");
}

TEST(FilterText, SetsParenthesesWhereTheyAreNeeded) {
  const Filter a = with_tag("a");
  const Filter b = with_tag("b");
  const Filter c = with_tag("c");
  EXPECT_EQ(to_string((a || b) && c), "(tag('a') | tag('b')) & tag('c')");
  EXPECT_EQ(to_string(a || (b && c)), "tag('a') | tag('b') & tag('c')");
  EXPECT_EQ(to_string(a && (b && c)), "tag('a') & (tag('b') & tag('c'))");
  EXPECT_EQ(to_string(a || (b || c)), "tag('a') | (tag('b') | tag('c'))");
  EXPECT_EQ(to_string(!(a || b)), "!(tag('a') | tag('b'))");
  EXPECT_EQ(to_string(!!a), "!!tag('a')");
}

TEST(FilterText, OfListsOfOtherSizes) {
  EXPECT_EQ(to_string(any()), "any()");
  EXPECT_EQ(to_string(all(with_tag("a"))), "all(tag('a'))");
  EXPECT_EQ(to_string(any(rest, nothing, everything)), "any(rest, nothing, everything)");
}

TEST(FilterText, IsWhatStreamsPrint) {
  std::ostringstream out;
  out << of_type<Param> << ' ' << !with_tag("a");
  EXPECT_EQ(out.str(), "Param !tag('a')");
}

TEST(FilterDepth, LongListsAreNotDeep) {
  const Filter filter = any(std::vector<Filter>(100000, with_tag("a")));
  EXPECT_FALSE(takes(filter, {"a"}));
}

TEST(FilterDepth, HasALimit) {
  Filter filter = nothing;
  for (int level = 2; level <= 1000; ++level) filter = !filter;
  EXPECT_TRUE(takes(filter, {"a"}));
  EXPECT_THAT([&] { (void)!filter; }, testing::ThrowsMessage<FilterError>(testing::HasSubstr("more than 1000 levels")));
  EXPECT_THROW((void)(filter || nothing), FilterError);
}

// any(f, f), forty times over: its text would have a million million parts.
class FilterOfSharedParts : public testing::Test {
 protected:
  static Filter doubled(const Filter& part) {
    Filter filter = part;
    for (int level = 0; level < 40; ++level) filter = level % 2 == 0 ? any(filter, filter) : all(filter, filter);
    return filter;
  }
};

TEST_F(FilterOfSharedParts, IsEvaluatedPartByPart) {
  int calls = 0;
  const Filter filter = doubled([&calls](const Path&, const Variable&) { return ++calls > 1000; });
  EXPECT_FALSE(takes(filter, {"a"}));
  EXPECT_LE(calls, 2);  // parts that look at the variable are not remembered within their own list
}

TEST_F(FilterOfSharedParts, IsComparedAndHashedPartByPart) {
  EXPECT_EQ(doubled(with_tag("a")), doubled(with_tag("a")));
  EXPECT_EQ(doubled(with_tag("a")).hash(), doubled(with_tag("a")).hash());
  EXPECT_NE(doubled(with_tag("a")), doubled(with_tag("b")));
}

TEST_F(FilterOfSharedParts, IsPrintedUpToALimit) {
  const std::string text = to_string(doubled(with_tag("é")));
  EXPECT_LE(text.size(), 1'000'003U);
  EXPECT_THAT(text, testing::EndsWith("..."));
  EXPECT_THROW((void)parse_filter(text), FilterTextError);
}

}  // namespace
}  // namespace strata
