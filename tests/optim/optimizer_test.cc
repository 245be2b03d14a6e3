// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <stdexcept>

#include "strata/nn/split.h"
#include "strata/nn/value_and_grad.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"
#include "support/compare.h"

namespace strata::optim {
namespace {

using support::difference;
using support::exactly;
using support::within;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> paths_of(const State& state) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : state) paths.push_back(to_string(path));
  return paths;
}

// The module of cases/state-09.
struct Backbone {
  Param kernel{tensor({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2})};
  BatchStat mean{tensor({0.5F, 0.5F})};
  STRATA_FIELDS(kernel, mean)
};
struct Head {
  Param kernel{tensor({0.5F, -0.5F}, {2, 1})};
  STRATA_FIELDS(kernel)
};
struct Net {
  Backbone backbone;
  Head head;
  STRATA_FIELDS(backbone, head)
};

const Filter of_head = of_type<Param> && path_contains("head");  // NOLINT(cert-err58-cpp)
const Path head_kernel{"head", "kernel"};                        // NOLINT(cert-err58-cpp)

State head_gradients() { return State{{head_kernel, Param(tensor({1.0F, 2.0F}, {2, 1}))}}; }

State all_gradients() {
  State gradients = head_gradients();
  gradients.set({"backbone", "kernel"}, Param(ones({2, 2})));
  return gradients;
}

class TrainOnlyTheHead : public testing::Test {
 protected:
  void SetUp() override {
    for (int step = 0; step < 2; ++step) optimizer.update(net, head_gradients());
  }

  Net net;
  Optimizer optimizer{net, sgd(0.1, {.momentum = 0.9}), of_head};
};

TEST_F(TrainOnlyTheHead, TrainsTheHead) {
  EXPECT_EQ(difference(net.head.kernel, tensor({0.21F, -1.08F}, {2, 1}), within(1e-6)), "");
}

TEST_F(TrainOnlyTheHead, KeepsTheRestBitForBit) {
  EXPECT_TRUE(identical(net.backbone.kernel, Net().backbone.kernel));
  EXPECT_TRUE(identical(net.backbone.mean, Net().backbone.mean));
}

TEST_F(TrainOnlyTheHead, RemembersTracesOfTheHeadOnly) {
  const State traces = filter(optimizer.state(), of_type<OptVariable>);
  EXPECT_THAT(paths_of(traces), ElementsAre("opt_state/0/trace/head/kernel"));
  EXPECT_EQ(difference(traces.begin()->variable, tensor({1.9F, 3.8F}, {2, 1}), within(1e-6)), "");
}

TEST_F(TrainOnlyTheHead, CountsSteps) {
  EXPECT_EQ(optimizer.step(), 2);
  EXPECT_EQ(optimizer.state().at({"step"}), OptState(scalar<std::uint32_t>(2)));
}

TEST(Optimizer, IgnoresGradientsThatItDoesNotNeed) {
  Net net;
  Optimizer optimizer(net, sgd(0.1), of_head);
  optimizer.update(net, all_gradients());
  EXPECT_TRUE(identical(net.backbone.kernel, Net().backbone.kernel));
}

TEST(Optimizer, StateHasThePathsOfFlax) {
  const Net net;
  EXPECT_THAT(paths_of(Optimizer(net, adamw([](Index) { return 0.1; }), of_head).state()),
              ElementsAre("opt_state/0/count", "opt_state/0/mu/head/kernel", "opt_state/0/nu/head/kernel",
                          "opt_state/2/count", "step"));
  EXPECT_THAT(
      paths_of(Optimizer(net, chain(clip_by_global_norm(1), adam(0.1)), of_head).state()),
      ElementsAre("opt_state/1/0/count", "opt_state/1/0/mu/head/kernel", "opt_state/1/0/nu/head/kernel", "step"));
}

// ---------------------------------------------------------------- errors change nothing

// Updates with gradients that do not fit, and checks that neither module nor optimizer changed.
void expect_refused(const State& gradients, const testing::Matcher<std::string>& message) {
  Net net;
  Optimizer optimizer(net, adam(0.1), of_type<Param>);
  optimizer.update(net, all_gradients());
  const State module_before = nn::state(net);
  const State optimizer_before = optimizer.state();
  EXPECT_THAT([&] { optimizer.update(net, gradients); }, ThrowsMessage<StateError>(message));
  EXPECT_EQ(nn::state(net), module_before);
  EXPECT_EQ(optimizer.state(), optimizer_before);
}

TEST(OptimizerErrors, MissingGradients) {
  expect_refused(head_gradients(), HasSubstr("backbone/kernel (missing)"));
  expect_refused(State(), AllOf(HasSubstr("backbone/kernel (missing)"), HasSubstr("head/kernel (missing)")));
}

TEST(OptimizerErrors, GradientsOfAnotherShape) {
  State gradients = all_gradients();
  gradients.at(head_kernel).reset(ones({2}));
  expect_refused(gradients, HasSubstr("head/kernel (expected float32[2, 1], got float32[2])"));
}

TEST(OptimizerErrors, GradientsOfAnotherType) {
  State gradients = all_gradients();
  gradients.at(head_kernel).reset(ones({2, 1}, DType::float64));
  expect_refused(gradients, HasSubstr("head/kernel (expected float32[2, 1], got float64[2, 1])"));
}

// Two steps, the second of which throws E: nothing of it may be left.
template <class E>
void expect_whole(const Transformation& transformation, DType dtype = DType::float32) {
  std::vector<Param> params{Param(full({3}, 1.0, dtype)), Param(full({2}, -1.0, dtype))};
  const State gradients = nn::state(std::vector<Param>{Param(full({3}, 0.5, dtype)), Param(full({2}, 0.25, dtype))});
  Optimizer optimizer(params, transformation, of_type<Param>);
  optimizer.update(params, gradients);
  const State params_before = nn::state(params);
  const State optimizer_before = optimizer.state();
  EXPECT_THROW(optimizer.update(params, gradients), E);
  EXPECT_EQ(nn::state(params), params_before);
  EXPECT_EQ(optimizer.state(), optimizer_before);
}

double fails_at_step_1(Index step) {
  if (step == 1) throw std::runtime_error("no rate");
  return 0.1;
}

double no_number_at_step_1(Index step) { return step == 1 ? std::numeric_limits<double>::quiet_NaN() : 0.1; }

TEST(OptimizerErrors, ASchedulesExceptionLeavesAllAsItWas) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
    expect_whole<std::runtime_error>(adam(fails_at_step_1), dtype);
    expect_whole<std::runtime_error>(adam(fails_at_step_1, {.nesterov = true}), dtype);
    expect_whole<std::runtime_error>(sgd(fails_at_step_1, {.momentum = 0.9}), dtype);
    expect_whole<std::runtime_error>(chain(clip_by_global_norm(1), adamw(fails_at_step_1)), dtype);
  }
}

TEST(OptimizerErrors, ALaterLinksExceptionLeavesTheEarlierLinksAsTheyWere) {
  for (const DType dtype : {DType::float32, DType::float16}) {
    expect_whole<std::runtime_error>(chain(adam(0.1), sgd(fails_at_step_1)), dtype);
    expect_whole<std::runtime_error>(chain(chain(adam(0.1), lion(0.1)), rmsprop(fails_at_step_1)), dtype);
  }
}

TEST(OptimizerErrors, ALearningRateThatIsNoNumber) {
  expect_whole<ValueError>(adam(no_number_at_step_1));
  expect_whole<ValueError>(chain(sgd(0.1, {.momentum = 0.9}), sgd(no_number_at_step_1)));
}

// Counts its steps, writes to everything it can, and throws in the second step.
class Careless : public Transformation::Rule {
 public:
  Memory init(std::span<const Tensor> params) const override {
    Memory memory;
    memory.scalars.push_back({{"count"}, scalar(0)});
    memory.slots.push_back({{"seen"}, {params.begin(), params.end()}});
    return memory;
  }
  void update(std::span<Tensor> updates, Memory& memory, std::span<const Tensor>) const override {
    memory.scalars[0].value += 1;
    for (Tensor& seen : memory.slots[0].values) seen += 1;
    for (Tensor& update : updates) update *= -1;
    if (memory.scalars[0].value.item<int>() == 2) throw std::runtime_error("careless");
  }
};

// Gives the first parameter another shape or type in the second step.
class Reshaper : public Transformation::Rule {
 public:
  explicit Reshaper(Tensor becomes) : becomes_(std::move(becomes)) {}
  Memory init(std::span<const Tensor>) const override {
    Memory memory;
    memory.scalars.push_back({{"count"}, scalar(0)});
    return memory;
  }
  void update(std::span<Tensor>, Memory&, std::span<const Tensor>) const override {}
  void step(std::span<Tensor> params, std::vector<Tensor>, Memory& memory) const override {
    memory.scalars[0].value += 1;
    if (memory.scalars[0].value.item<int>() == 2) params[0] = becomes_;
  }

 private:
  Tensor becomes_;
};

TEST(OptimizerErrors, ARuleOfOnesOwnLeavesAllAsItWas) {
  const Transformation careless(std::make_shared<Careless>());
  expect_whole<std::runtime_error>(careless);
  expect_whole<std::runtime_error>(chain(careless, sgd(0.1)));
  expect_whole<std::runtime_error>(chain(adam(0.1), careless));
}

TEST(OptimizerErrors, ARuleThatReshapesAParameter) {
  expect_whole<ShapeError>(Transformation(std::make_shared<Reshaper>(ones({4}))));
  expect_whole<DTypeError>(Transformation(std::make_shared<Reshaper>(ones({3}, DType::float64))));
}

TEST(Optimizer, WritesInPlaceWhatNobodyShares) {
  std::vector<Param> params{Param(ones({64}))};
  const State gradients = nn::state(params);
  Optimizer optimizer(params, chain(clip_by_global_norm(1), adam([](Index) { return 0.1; })), of_type<Param>);
  optimizer.update(params, gradients);
  const std::byte* place = params[0].value().bytes().data();
  optimizer.update(params, gradients);
  EXPECT_EQ(params[0].value().bytes().data(), place);
}

TEST(OptimizerErrors, AnotherModule) {
  Net net;
  Optimizer optimizer(net, sgd(0.1), of_type<Param>);
  Backbone other;
  EXPECT_THAT([&] { optimizer.update(other, all_gradients()); },
              ThrowsMessage<StateError>(HasSubstr("not the one that the optimizer was made for")));
  EXPECT_TRUE(identical(other.kernel, Backbone().kernel));
}

TEST(OptimizerErrors, ParametersOfAnotherShapeThanAtFirst) {
  Net net;
  Optimizer optimizer(net, sgd(0.1), of_head);
  net.head.kernel.reset(ones({3, 1}));
  EXPECT_THROW(optimizer.update(net, head_gradients()), StateError);
}

TEST(OptimizerErrors, AFilterThatTakesNothing) {
  EXPECT_THAT([] { Optimizer(Net(), sgd(0.1), of_type<Cache>); },
              ThrowsMessage<FilterError>(HasSubstr("`Cache` takes none of the module's 3 variables")));
}

TEST(OptimizerErrors, AnIntegerVariable) {
  const std::vector<Param> module{Param(tensor({1, 2}))};
  EXPECT_THAT([&] { Optimizer(module, sgd(0.1), everything); },
              ThrowsMessage<DTypeError>(HasSubstr("0 (Param int32[2])")));
}

TEST(OptimizerErrors, AScheduleThatThrows) {
  Net net;
  bool fails = false;
  Optimizer optimizer(net, adam([&fails](Index) { return fails ? throw std::runtime_error("no") : 0.1; }), of_head);
  optimizer.update(net, head_gradients());
  const State module_before = nn::state(net);
  const State optimizer_before = optimizer.state();
  fails = true;
  EXPECT_THROW(optimizer.update(net, head_gradients()), std::runtime_error);
  EXPECT_EQ(nn::state(net), module_before);
  EXPECT_EQ(optimizer.state(), optimizer_before);
}

TEST(OptimizerErrors, AnUpdateWithinTheLoss) {
  Net net;
  Optimizer optimizer(net, adam(0.1), of_head);
  const State optimizer_before = optimizer.state();
  const auto step = nn::value_and_grad(
      [&](Net& m) {
        optimizer.update(m, head_gradients());
        return sum(m.head.kernel.value());
      },
      of_head);
  EXPECT_THROW((void)step(net), StateError);
  EXPECT_EQ(optimizer.state(), optimizer_before);
  EXPECT_EQ(nn::state(net), nn::state(Net()));
}

// ---------------------------------------------------------------- values are never shared

TEST(Optimizer, DoesNotWriteToStatesTakenBefore) {
  Net net;
  Optimizer optimizer(net, adam(0.1), of_type<Param>);
  const State gradients = all_gradients();
  const State module_before = nn::state(net);
  const Net copy = net;
  optimizer.update(net, gradients);
  const State optimizer_before = optimizer.state();
  optimizer.update(net, gradients);
  EXPECT_EQ(gradients, all_gradients());
  EXPECT_EQ(module_before, nn::state(Net()));
  EXPECT_EQ(nn::state(copy), nn::state(Net()));
  EXPECT_EQ(optimizer_before.at({"step"}).value().item<int>(), 1);
  EXPECT_NE(optimizer_before, optimizer.state());
}

TEST(Optimizer, UpdatesInPlaceWhatNobodyElseHolds) {
  for (const Transformation& transformation :
       {sgd(0.1), sgd(0.1, {.momentum = 0.9}), adam(0.1), adamw(0.1), lion(0.1)}) {
    std::vector<Param> module{Param(ones({64}) * 2)};
    const float* elements = module[0].value().data<float>().data();
    Optimizer optimizer(module, transformation, everything);
    optimizer.update(module, State{{{0}, Param(ones({64}))}});
    EXPECT_EQ(module[0].value().data<float>().data(), elements);
  }
}

TEST(Optimizer, TakesTheModulesOwnValuesAsGradients) {
  Net net;
  Optimizer optimizer(net, sgd(0.5), of_head);
  optimizer.update(net, nn::state(net));
  EXPECT_EQ(difference(net.head.kernel, tensor({0.25F, -0.25F}, {2, 1}), exactly), "");
}

TEST(Optimizer, UpdatesATiedVariableOnce) {
  struct Tied {
    std::shared_ptr<Param> a = std::make_shared<Param>(ones({1}));
    std::shared_ptr<Param> b = a;
    STRATA_FIELDS(a, b)
  } module;
  Optimizer optimizer(module, sgd(0.5), everything);
  optimizer.update(module, State{{{"a"}, Param(ones({1}))}});
  EXPECT_EQ(difference(*module.b, full({1}, 0.5F), exactly), "");
}

TEST(Optimizer, TakesParametersOfSeveralTypes) {
  std::vector<Param> module;
  State gradients;
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    gradients.set(Path{module.size()}, Param(full({2}, 0.5, dtype)));
    module.push_back(Param(full({2}, 1.0, dtype)));
  }
  for (const Transformation& transformation : {sgd(0.5), adam(0.5), adagrad(0.5), rmsprop(0.5), lion(0.5)}) {
    std::vector<Param> trained = module;
    Optimizer optimizer(trained, transformation, everything);
    optimizer.update(trained, gradients);
    for (std::size_t i = 0; i < module.size(); ++i) {
      EXPECT_EQ(trained[i].value().dtype(), module[i].value().dtype());
      EXPECT_LT(trained[i].value().at<double>({0}), 1.0);
    }
  }
}

// ---------------------------------------------------------------- restoring

class Restored : public testing::TestWithParam<int> {
 protected:
  static Transformation transformation() {
    const Schedule schedule = warmup_cosine_decay(0, 0.1, 2, 10);
    switch (GetParam()) {
      case 0:
        return sgd(schedule, {.momentum = 0.9});
      case 1:
        return chain(clip_by_global_norm(0.5), adamw(schedule));
      case 2:
        return rmsprop(schedule, {.centered = true, .momentum = 0.9, .bias_correction = true});
      case 3:
        return adagrad(schedule);
      default:
        return lion(schedule);
    }
  }
};

TEST_P(Restored, TrajectoryIsBitIdentical) {
  Net net;
  Optimizer optimizer(net, transformation(), of_type<Param>);
  for (int i = 0; i < 3; ++i) optimizer.update(net, all_gradients());
  Net resumed = nn::clone(net);
  Optimizer restored(Net(), transformation(), of_type<Param>);
  restored.set_state(optimizer.state());
  EXPECT_EQ(restored.step(), 3);
  for (int i = 0; i < 4; ++i) {
    optimizer.update(net, all_gradients());
    restored.update(resumed, all_gradients());
  }
  EXPECT_EQ(nn::state(resumed), nn::state(net));
  EXPECT_EQ(restored.state(), optimizer.state());
}
INSTANTIATE_TEST_SUITE_P(Optimizers, Restored, testing::Range(0, 5));

TEST(SetState, RefusesWhatDoesNotFitAndChangesNothing) {
  const Net net;
  Optimizer optimizer(net, adam(0.1), of_head);
  const State before = optimizer.state();
  State missing = before;
  missing.erase({"step"});
  State other_shape = before;
  other_shape.at(Path::parse("opt_state/0/mu/head/kernel")).reset(ones({3}));
  other_shape.at({"step"}).set_value(scalar<std::uint32_t>(5));
  State extra = before;
  extra.set({"more"}, OptState(ones({1})));
  EXPECT_THAT([&] { optimizer.set_state(missing); }, ThrowsMessage<StateError>(HasSubstr("Missing: step")));
  EXPECT_THAT([&] { optimizer.set_state(other_shape); }, ThrowsMessage<StateError>(HasSubstr("mu/head/kernel")));
  EXPECT_THAT([&] { optimizer.set_state(extra); }, ThrowsMessage<StateError>(HasSubstr("Unexpected: more")));
  EXPECT_EQ(optimizer.state(), before);
}

TEST(Optimizer, RefusesToCountBeyond32BitsAndChangesNothing) {
  Net net;
  Optimizer optimizer(net, sgd(0.1, {.momentum = 0.9}), of_head);
  State state = optimizer.state();
  state.set({"step"}, OptState(scalar(std::uint32_t{4294967294})));
  optimizer.set_state(state);
  optimizer.update(net, all_gradients());
  EXPECT_EQ(optimizer.step(), 4294967295);
  const State params = nn::state(net);
  const State before = optimizer.state();
  EXPECT_THAT([&] { optimizer.update(net, all_gradients()); },
              ThrowsMessage<StateError>(HasSubstr("4294967295 steps are done")));
  EXPECT_EQ(nn::state(net), params);
  EXPECT_EQ(optimizer.state(), before);
}

TEST(SetState, TakesEntriesWithoutKinds) {
  const Net net;
  Optimizer optimizer(net, adam(0.1), of_head);
  State plain;
  for (const auto& [path, variable] : optimizer.state()) plain.set(path, Variable(variable.value()));
  EXPECT_NO_THROW(optimizer.set_state(plain));
}

}  // namespace
}  // namespace strata::optim
