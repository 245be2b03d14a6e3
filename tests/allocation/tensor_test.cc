// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/tensor.h"

#include <gtest/gtest.h>

#include "allocation/allocations.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata {
namespace {

// Shapes of more than four axes are stored in memory of their own.
const Shape old_shape{1, 1, 1, 1, 2};  // NOLINT(cert-err58-cpp)

struct Assignment {
  Tensor target = full(old_shape, 1.0F);
  Tensor before = target;
  Tensor source = full({1, 1, 1, 2, 3}, 2.0, DType::float64);

  void act() { target = source; }
  void expect_unchanged() const { EXPECT_TRUE(identical(target, before)); }
};

struct WriteToSharedElements : Assignment {
  void act() { target.mutable_data<float>()[0] = 3; }
};

struct SetEntry : Assignment {
  Tensor value = full(old_shape.axes(1, 5), 4.0F);
  void act() { target.set(0, value); }
};

struct CompoundAssignment : Assignment {
  Tensor term = full(old_shape, 5.0F);
  void act() { target += term; }
};

TEST(TensorWithoutMemory, IsAssigned) { EXPECT_EQ(allocation::fail_each<Assignment>(), 0); }

TEST(TensorWithoutMemory, IsWrittenToWholeOrNotAtAll) {
  EXPECT_GT(allocation::fail_each<WriteToSharedElements>(), 0);
  EXPECT_GT(allocation::fail_each<SetEntry>(), 0);
  EXPECT_GT(allocation::fail_each<CompoundAssignment>(), 0);
}

TEST(CompoundAssignmentInPlace, AllocatesNothing) {
  Tensor x = full(old_shape, 1.0F);
  const Tensor term = full(old_shape, 2.0F);
  const int before = allocation::count();
  x += term;
  EXPECT_EQ(allocation::count(), before);
  EXPECT_TRUE(identical(x, full(old_shape, 3.0F)));
}

}  // namespace
}  // namespace strata
