// SPDX-License-Identifier: Apache-2.0
#include "strata/state/kind.h"

#include <gtest/gtest.h>

#include "strata/state/variable.h"

namespace strata {
namespace {

struct Adapter : Param {
  STRATA_KIND(Adapter, Param)
};
struct SmallAdapter : Adapter {
  STRATA_KIND(SmallAdapter, Adapter)
};

TEST(Kind, IsOneObjectForEachType) {
  EXPECT_EQ(&kind_of<Param>(), &kind_of<Param>());
  EXPECT_NE(&kind_of<Param>(), &kind_of<BatchStat>());
}

TEST(Kind, HasTheNameOfItsType) {
  EXPECT_EQ(kind_of<Variable>().name, "Variable");
  EXPECT_EQ(kind_of<SmallAdapter>().name, "SmallAdapter");
}

TEST(Kind, IsItselfAndWhatItSpecialises) {
  const Kind& kind = kind_of<SmallAdapter>();
  EXPECT_TRUE(kind.is_a(kind));
  EXPECT_TRUE(kind.is_a(kind_of<Adapter>()));
  EXPECT_TRUE(kind.is_a(kind_of<Param>()));
  EXPECT_TRUE(kind.is_a(kind_of<Variable>()));
}

TEST(Kind, IsNotWhatSpecialisesItNorItsSiblings) {
  EXPECT_FALSE(kind_of<Param>().is_a(kind_of<Adapter>()));
  EXPECT_FALSE(kind_of<Param>().is_a(kind_of<BatchStat>()));
}

TEST(Kind, HierarchyOfTheLibraryIsThatOfFlax) {
  EXPECT_EQ(kind_of<Variable>().base, nullptr);
  EXPECT_EQ(kind_of<LoRAParam>().base, &kind_of<Param>());
  EXPECT_EQ(kind_of<Perturbation>().base, &kind_of<Intermediate>());
  EXPECT_EQ(kind_of<RngKey>().base, &kind_of<RngState>());
  EXPECT_EQ(kind_of<RngCount>().base, &kind_of<RngState>());
  EXPECT_EQ(kind_of<OptArray>().base, &kind_of<OptState>());
  EXPECT_EQ(kind_of<OptVariable>().base, &kind_of<OptState>());
  for (const Kind* kind : {&kind_of<Param>(), &kind_of<BatchStat>(), &kind_of<Cache>(), &kind_of<Intermediate>(),
                           &kind_of<RngState>(), &kind_of<OptState>()}) {
    EXPECT_EQ(kind->base, &kind_of<Variable>()) << kind->name;
  }
}

}  // namespace
}  // namespace strata
