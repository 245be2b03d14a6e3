// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/simplify.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "filters/random_filters.h"
#include "strata/filters/parse.h"

namespace strata {
namespace {

const Filter a = with_tag("a");  // NOLINT(cert-err58-cpp)
const Filter b = with_tag("b");  // NOLINT(cert-err58-cpp)
const Filter c = with_tag("c");  // NOLINT(cert-err58-cpp)

TEST(Simplify, DoubleNegation) {
  EXPECT_EQ(simplify(!!a), a);
  EXPECT_EQ(simplify(!!!a), !a);
}

TEST(Simplify, EverythingAndNothing) {
  EXPECT_EQ(simplify(a && everything), a);
  EXPECT_EQ(simplify(a && nothing), nothing);
  EXPECT_EQ(simplify(a || everything), everything);
  EXPECT_EQ(simplify(nothing || a), a);
  EXPECT_EQ(simplify(!nothing), everything);
  EXPECT_EQ(simplify(!everything), nothing);
  EXPECT_EQ(simplify(any()), nothing);
  EXPECT_EQ(simplify(all()), everything);
}

TEST(Simplify, Duplicates) {
  EXPECT_EQ(simplify(a && a), a);
  EXPECT_EQ(simplify(any(a, b, a)), any(a, b));
}

TEST(Simplify, Flattening) {
  EXPECT_EQ(simplify(a && b && c), all(a, b, c));
  EXPECT_EQ(simplify(a || (b || c)), any(a, b, c));
  EXPECT_EQ(simplify(any(a)), a);
  EXPECT_EQ(simplify(any(all(any(a)))), a);
}

TEST(Simplify, Absorption) {
  EXPECT_EQ(simplify(a && (a || b)), a);
  EXPECT_EQ(simplify((b || a) && a), a);
  EXPECT_EQ(simplify(a || (b && a)), a);
  EXPECT_EQ(simplify((a || b) && (a || b || c)), (a || b));
  EXPECT_EQ(simplify((a && b) || (c && b && a)), (a && b));
  EXPECT_EQ(simplify((a || b) && (a || c)), ((a || b) && (a || c)));
}

TEST(Simplify, Contradictions) {
  EXPECT_EQ(simplify(a && b && !a), nothing);
  EXPECT_EQ(simplify(a || b || !a), everything);
  EXPECT_EQ(simplify((a || b) && !(a || b)), nothing);
  EXPECT_EQ(simplify(!(a && b) || (a && b)), everything);
}

TEST(Simplify, PartsThatTakeNothing) {
  EXPECT_EQ(simplify(path_in({})), nothing);
  EXPECT_EQ(simplify(a || of_dtype({})), a);
}

TEST(Simplify, RestStaysAndWithinOthersIsEverything) {
  EXPECT_EQ(simplify(rest), rest);
  EXPECT_EQ(simplify(any(rest)), everything);
  EXPECT_EQ(simplify(!!rest), everything);
  EXPECT_EQ(simplify(a && rest), a);
}

TEST(Simplify, PredicatesAreKnownByTheirCopies) {
  const Filter p = [](const Path& path, const Variable&) { return path.empty(); };
  EXPECT_EQ(simplify(p && a && p), (p && a));
  EXPECT_EQ(simplify(p && !p), nothing);
}

TEST(Simplify, SharedPartsAreLookedAtOnce) {
  Filter filter = a;
  for (int level = 0; level < 400; ++level) filter = any(all(filter, b), all(filter, c));
  EXPECT_EQ(simplify(simplify(filter)), simplify(filter));
}

RC_GTEST_PROP(SimplifyProperty, KeepsTheMeaning, ()) {
  const Filter filter = testing_filters::any_filter(4);
  const Filter simple = simplify(filter);
  for (int i = 0; i < 10; ++i) {
    const Path path = testing_filters::any_path();
    const Variable variable = testing_filters::any_variable();
    RC_ASSERT(simple(path, variable) == filter(path, variable));
  }
}

RC_GTEST_PROP(SimplifyProperty, SimplifyingAgainChangesNothing, ()) {
  const Filter simple = simplify(testing_filters::any_filter(4));
  RC_ASSERT(simplify(simple) == simple);
}

RC_GTEST_PROP(SimplifyProperty, DoesNotMakeTheTextLonger, ()) {
  const Filter filter = testing_filters::any_filter(4);
  // n-ary lists are written as calls: `a & b & c` as all(a, b, c).
  RC_ASSERT(to_string(simplify(filter)).size() <= to_string(filter).size() + std::string("everything").size());
}

RC_GTEST_PROP(SimplifyProperty, KeepsTheMeaningOfSplits, ()) {
  const Filter filter = testing_filters::any_filter();
  RC_ASSERT(simplify(filter).is_rest() == filter.is_rest());
}

}  // namespace
}  // namespace strata
