// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/stack_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/random.h"
#include "strata/tensor/reduce.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

State state_with(float first, std::int32_t count = 7) {
  return {{{"layers", 0, "kernel"}, Param(tensor({first, 2.0F}), tagged("lora"))},
          {{"count"}, RngCount(scalar<std::int32_t>(count))}};
}

TEST(StackStates, PutsTheMembersAlongTheLeadingAxis) {
  const std::vector<State> states{state_with(1), state_with(3, 8)};
  EXPECT_EQ(stack_states(states),
            (State{{{"layers", 0, "kernel"}, Param(tensor({1.0F, 2.0F, 3.0F, 2.0F}, {2, 2}), tagged("lora"))},
                   {{"count"}, RngCount(tensor({7, 8}))}}));
}

TEST(StackStates, PutsTheMembersAlongOtherAxes) {
  const std::vector<State> states{state_with(1), state_with(3), state_with(4)};
  const State stacked = stack_states(states, {{of_type<Param>, -1}, {rest, shared}});
  EXPECT_EQ(stacked.at({"layers", 0, "kernel"}).value().shape(), (Shape{2, 3}));
  EXPECT_EQ(stacked.at({"layers", 0, "kernel"}).value().at<float>({0, 1}), 3);
  EXPECT_EQ(stacked.at({"count"}), state_with(1).at({"count"}));
}

TEST(StackStates, ListsEverythingThatDiffers) {
  State other = state_with(1);
  other.at({"layers", 0, "kernel"}).reset(zeros({3}));
  other.erase({"count"});
  other.set({"extra"}, Param(zeros({})));
  EXPECT_THAT(
      ([&] {
        (void)stack_states(std::vector<State>{state_with(1), other});
      }),
      ThrowsMessage<StateError>(AllOf(HasSubstr("layers/0/kernel (Param float32[2]) is Param float32[3] in state 1"),
                                      HasSubstr("count (RngCount int32[]) is missing in state 1"),
                                      HasSubstr("extra (Param float32[]) is in state 1 alone"))));
}

TEST(StackStates, KindsElementTypesAndMetadataAreAlike) {
  for (const Variable& other : {Variable(BatchStat(zeros({2}))), Variable(Param(zeros({2}, DType::float64))),
                                Variable(Param(zeros({2}), tagged("a"))), Variable(zeros({2}))}) {
    const std::vector<State> states{State{{{"a"}, Param(zeros({2}))}}, State{{{"a"}, other}}};
    EXPECT_THROW((void)stack_states(states), StateError) << describe(other);
  }
}

TEST(StackStates, VariablesThatAreSharedAreIdentical) {
  const std::vector<State> states{state_with(1, 7), state_with(1, 8)};
  EXPECT_THAT(([&] {
                (void)stack_states(states, {{of_type<RngState>, shared}, {rest, 0}});
              }),
              ThrowsMessage<StateError>(HasSubstr("count (RngCount int32[])")));
}

TEST(StackStates, VariablesWithoutAPlaceForTheAxisAreNamed) {
  const std::vector<State> states{state_with(1), state_with(1)};
  EXPECT_THAT([&] { (void)stack_states(states, 1); },
              ThrowsMessage<ShapeError>(HasSubstr("count (RngCount int32[]) along axis 1")));
}

TEST(StackStates, NoStatesAreAnError) { EXPECT_THROW((void)stack_states({}), ValueError); }

TEST(StackStates, IsDifferentiable) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  const std::vector<State> states{State{{{"a"}, Param(x)}}, State{{{"a"}, Param(x * 2.0)}}};
  const Tensor y = sum(stack_states(states).at({"a"}).value() * tensor({1.0, 10.0, 100.0, 1000.0}, {2, 2}));
  EXPECT_TRUE(identical(tape.gradient(y, {x})[0], tensor({201.0, 2010.0})));
}

TEST(UnstackState, IsTheInverseOfStacking) {
  const std::vector<State> states{state_with(1, 7), state_with(3, 8), state_with(4, 9)};
  for (const StateAxes& axes : {StateAxes(0), StateAxes(-1), StateAxes{{of_type<Param>, 1}, {rest, 0}}}) {
    EXPECT_EQ(unstack_state(stack_states(states, axes), axes), states) << axes;
  }
}

TEST(UnstackState, RepeatsSharedVariables) {
  const State stacked{{{"a"}, Param(zeros({2, 3}))}, {{"b"}, BatchStat(zeros({4}))}};
  const std::vector<State> states = unstack_state(stacked, {{of_type<BatchStat>, shared}, {rest, 0}});
  EXPECT_EQ(states, (std::vector<State>(2, {{{"a"}, Param(zeros({3}))}, {{"b"}, BatchStat(zeros({4}))}})));
}

TEST(UnstackState, SizesAgree) {
  const State stacked{{{"a"}, Param(zeros({2, 3}))}, {{"b"}, Param(zeros({4}))}, {{"c"}, Param(zeros({}))}};
  EXPECT_THAT([&] { (void)unstack_state(stacked); },
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("2 members"), HasSubstr("b (Param float32[4], axis 0)"),
                                              HasSubstr("c (Param float32[], axis 0)"))));
}

TEST(UnstackState, SomethingTellsTheNumberOfMembers) {
  const State stacked{{{"a"}, Param(zeros({2}))}};
  EXPECT_THROW((void)unstack_state(stacked, {{rest, shared}}), StateError);
}

TEST(UnstackState, IsDifferentiable) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0, 3.0, 4.0}, {2, 2}));
  const std::vector<State> states = unstack_state(State{{{"a"}, Param(x)}}, 1);
  const Tensor y = sum(states[1].at({"a"}).value() * tensor({10.0, 100.0}));
  EXPECT_TRUE(identical(tape.gradient(y, {x})[0], tensor({0.0, 10.0, 0.0, 100.0}, {2, 2})));
}

RC_GTEST_PROP(StackStatesProperty, UnstackingIsTheInverse, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 5);
  const auto rank = *rc::gen::inRange<std::size_t>(0, 4);
  const auto sizes = *rc::gen::container<std::vector<Index>>(rank, rc::gen::inRange<Index>(0, 4));
  const int axis = *rc::gen::inRange(-static_cast<int>(rank) - 1, static_cast<int>(rank) + 1);
  std::vector<State> states;
  for (std::size_t i = 0; i < count; ++i) {
    states.push_back({{{"x"}, Param(random::normal(random::key(static_cast<int>(i)), Shape(sizes)))}});
  }
  const StateAxes axes(axis);
  RC_ASSERT(unstack_state(stack_states(states, axes), axes) == states);
}

}  // namespace
}  // namespace strata::nn
