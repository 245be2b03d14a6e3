// SPDX-License-Identifier: Apache-2.0
#include "strata/state/kind_registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "strata/state/variable.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

struct RegisteredKind : Param {
  STRATA_KIND(RegisteredKind, Param)
};

namespace elsewhere {
struct BatchStat : Variable {
  STRATA_KIND(BatchStat, Variable)
};
}  // namespace elsewhere

TEST(FindKind, KnowsTheKindsOfTheLibrary) {
  EXPECT_EQ(find_kind("Variable"), &kind_of<Variable>());
  EXPECT_EQ(find_kind("LoRAParam"), &kind_of<LoRAParam>());
  EXPECT_EQ(find_kind("OptVariable"), &kind_of<OptVariable>());
}

// Section 5 of the reference behaviour.
TEST(FindKind, KnowsTheNamesThatFlaxHasForFiveKinds) {
  EXPECT_EQ(find_kind("params"), &kind_of<Param>());
  EXPECT_EQ(find_kind("batch_stats"), &kind_of<BatchStat>());
  EXPECT_EQ(find_kind("cache"), &kind_of<Cache>());
  EXPECT_EQ(find_kind("intermediates"), &kind_of<Intermediate>());
  EXPECT_EQ(find_kind("perturbations"), &kind_of<Perturbation>());
}

TEST(KindNames, AreSortedAndHoldWhatIsRegistered) {
  register_kind(kind_of<RegisteredKind>());
  const std::vector<std::string> names = kind_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::count(names.begin(), names.end(), "RegisteredKind"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Param"), 1);
}

TEST(FindKind, IsNullForOtherNames) {
  EXPECT_EQ(find_kind("param"), nullptr);
  EXPECT_EQ(find_kind(""), nullptr);
}

TEST(RegisterKind, MakesAKindKnownAndMayBeRepeated) {
  register_kind(kind_of<RegisteredKind>());
  register_kind(kind_of<RegisteredKind>());
  EXPECT_EQ(find_kind("RegisteredKind"), &kind_of<RegisteredKind>());
}

TEST(RegisterKind, RefusesAnotherKindOfTheSameName) {
  EXPECT_THROW(register_kind(kind_of<elsewhere::BatchStat>()), ValueError);
  EXPECT_EQ(find_kind("BatchStat"), &kind_of<BatchStat>());
}

TEST(FindOrAddKind, MakesAKindOfANameOnce) {
  const std::string name = "MadeOfAName";
  const Kind& made = find_or_add_kind(name, kind_of<Param>());
  EXPECT_EQ(made.name, "MadeOfAName");
  EXPECT_TRUE(made.is_a(kind_of<Param>()));
  EXPECT_EQ(&find_or_add_kind("MadeOfAName", kind_of<Variable>()), &made);
  EXPECT_EQ(find_kind("MadeOfAName"), &made);
  EXPECT_EQ(&find_or_add_kind("Param", kind_of<Variable>()), &kind_of<Param>());
}

}  // namespace
}  // namespace strata
