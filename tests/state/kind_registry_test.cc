// SPDX-License-Identifier: Apache-2.0
#include "strata/state/kind_registry.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace strata
