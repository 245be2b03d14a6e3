// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/optimizer.h"

#include <gtest/gtest.h>

#include "allocation/allocations.h"
#include "strata/nn/split.h"
#include "strata/tensor/create.h"

namespace strata::optim {
namespace {

// Shapes of more than four axes are stored outside of the tensor. The larger parameter is worth several threads.
struct Net {
  Param first{full({1, 1, 1, 2, 2}, 1.0F)};
  Param second{full({2, 1, 1, 1, 3}, 2.0)};
  Param third{full({1, 1, 1, 2, 1 << 16}, 3.0F)};
  STRATA_FIELDS(first, second, third)
};

State gradients() {
  return State{{Path{"first"}, Param(full({1, 1, 1, 2, 2}, 0.5F))},
               {Path{"second"}, Param(full({2, 1, 1, 1, 3}, 0.5))},
               {Path{"third"}, Param(full({1, 1, 1, 2, 1 << 16}, 0.5F))}};
}

// A step, the second one, of an optimizer with the transformation of `Make`.
template <class Make>
struct StepOf {
  Net net{};
  Optimizer optimizer{net, Make()(), of_type<Param>};
  State given = gradients();
  State module_before{};
  State optimizer_before{};

  StepOf() {
    optimizer.update(net, given);
    module_before = clone(net);
    optimizer_before = optimizer.state();
  }

  void act() { optimizer.update(net, given); }
  void expect_unchanged() const {
    EXPECT_EQ(nn::state(net), module_before);
    EXPECT_EQ(optimizer.state(), optimizer_before);
    EXPECT_EQ(optimizer.step(), 1);
  }

  // With elements of its own, so that the step finds those of the module unshared.
  static State clone(const Net& net) {
    State copy = nn::state(net);
    for (const char* name : {"first", "second", "third"}) {
      Tensor value = copy.at({name}).value();
      static_cast<void>(value.mutable_bytes());
      copy.at({name}).reset(value);
    }
    return copy;
  }
};

Schedule halving() {
  return [](Index step) { return 0.1 / static_cast<double>(step + 1); };
}

struct PlainSgd {
  Transformation operator()() const { return sgd(halving()); }
};
struct MomentumSgd {
  Transformation operator()() const { return sgd(0.1, {.momentum = 0.9}); }
};
struct OfAdam {
  Transformation operator()() const { return adam(halving()); }
};
struct OfRMSProp {
  Transformation operator()() const {
    return rmsprop(0.1, {.centered = true, .momentum = 0.9, .bias_correction = true});
  }
};
struct ChainEndingInClipping {
  Transformation operator()() const { return chain(sgd(0.1, {.momentum = 0.9}), clip_by_global_norm(1)); }
};
struct ChainOfMomenta {
  Transformation operator()() const { return chain(clip_by_global_norm(1), adam(0.1), sgd(1, {.momentum = 0.9})); }
};

template <class Make>
class OptimizerWithoutMemory : public testing::Test {};
using Transformations = testing::Types<PlainSgd, MomentumSgd, OfAdam, OfRMSProp, ChainEndingInClipping, ChainOfMomenta>;
TYPED_TEST_SUITE(OptimizerWithoutMemory, Transformations);

TYPED_TEST(OptimizerWithoutMemory, StepsWholeOrNotAtAll) { EXPECT_GT(allocation::fail_each<StepOf<TypeParam>>(), 0); }

template <class Make>
struct SetStateOf : StepOf<Make> {
  State other = [this] {
    Optimizer later = this->optimizer;
    Net copy = this->net;
    later.update(copy, this->given);
    return later.state();
  }();

  void act() { this->optimizer.set_state(other); }
};

TYPED_TEST(OptimizerWithoutMemory, TakesAStateWholeOrNotAtAll) {
  EXPECT_GT(allocation::fail_each<SetStateOf<TypeParam>>(), 0);
}

}  // namespace
}  // namespace strata::optim
