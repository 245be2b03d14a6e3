// SPDX-License-Identifier: Apache-2.0
#include "strata/state/variable.h"

#include <gtest/gtest.h>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

struct Adapter : Param {
  STRATA_KIND(Adapter, Param)
};

TEST(Variable, KeepsItsKindWhenCopiedToTheBase) {
  const Variable variable = Adapter(ones({2}));
  EXPECT_EQ(&variable.kind(), &kind_of<Adapter>());
}

TEST(Variable, DefaultOnesHaveTheKindOfTheirType) {
  EXPECT_EQ(&Variable().kind(), &kind_of<Variable>());
  EXPECT_EQ(&Param().kind(), &kind_of<Param>());
  EXPECT_EQ(&Adapter().kind(), &kind_of<Adapter>());
}

TEST(Variable, KindCanBeChosenAtRunTime) {
  const Variable variable(kind_of<BatchStat>(), ones({2}));
  EXPECT_EQ(describe(variable), "BatchStat float32[2]");
}

TEST(Variable, ReadsAsItsTensor) {
  const Param param(tensor({1.0F, 2.0F}));
  const Tensor& value = param;
  EXPECT_TRUE(identical(value, tensor({1.0F, 2.0F})));
}

TEST(Variable, SetValueTakesTheSameShapeAndType) {
  Param param(zeros({2}));
  param.set_value(tensor({1.0F, 2.0F}));
  EXPECT_TRUE(identical(param, tensor({1.0F, 2.0F})));
}

TEST(Variable, SetValueRefusesOtherShapesAndTypes) {
  Param param(zeros({2, 3}));
  EXPECT_THROW(param.set_value(zeros({3, 2})), ShapeError);
  EXPECT_THROW(param.set_value(zeros({6})), ShapeError);
  EXPECT_THROW(param.set_value(zeros({2, 3}, DType::float64)), DTypeError);
  EXPECT_TRUE(identical(param, zeros({2, 3})));
}

TEST(Variable, ResetTakesAnything) {
  Param param(zeros({2, 3}));
  param.reset(zeros({4}, DType::int32));
  EXPECT_EQ(describe(param), "Param int32[4]");
}

TEST(Variable, CopiesAreOfTheirOwn) {
  Param param(zeros({2}));
  const Param copy = param;
  param.set_value(ones({2}));
  param.set_metadata("tag", "new");
  EXPECT_TRUE(identical(copy, zeros({2})));
  EXPECT_TRUE(copy.metadata().empty());
}

TEST(Variable, TagIsTheTextUnderThatName) {
  EXPECT_EQ(*Param(ones({1}), tagged("lora")).tag(), "lora");
  EXPECT_EQ(*Param(ones({1}), tagged("")).tag(), "");
  EXPECT_EQ(Param(ones({1})).tag(), nullptr);
  EXPECT_EQ(Param(ones({1}), Metadata{{"tag", Index{1}}}).tag(), nullptr);
}

TEST(Variable, EqualIfKindMetadataAndBytesAre) {
  const Variable variable = Param(ones({2}), tagged("a"));
  EXPECT_EQ(variable, Variable(kind_of<Param>(), ones({2}), tagged("a")));
  EXPECT_NE(variable, Variable(kind_of<BatchStat>(), ones({2}), tagged("a")));
  EXPECT_NE(variable, Variable(kind_of<Param>(), ones({2}), tagged("b")));
  EXPECT_NE(variable, Variable(kind_of<Param>(), zeros({2}), tagged("a")));
  EXPECT_NE(variable, Variable(kind_of<Param>(), ones({2}, DType::float64), tagged("a")));
}

}  // namespace
}  // namespace strata
