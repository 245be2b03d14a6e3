// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/gradient.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"
#include "support/gradient_check.h"

namespace strata {
namespace {

std::vector<Tensor> gradients(GradientTape& tape, const Tensor& y, const Tensor& dy, const Tensor& x) {
  return tape.gradient(std::vector<Tensor>{y}, std::vector<Tensor>{dy}, std::vector<Tensor>{x});
}

TEST(GradientTape, FollowsTheOperations) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  const Tensor loss = sum(x * x);
  EXPECT_TRUE(identical(tape.gradient(loss, {x})[0], tensor({2.0, 4.0})));
}

// What the thread sanitizer watches.
TEST(GradientTape, EndsWhileAnotherThreadHoldsItsTensors) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  const Tensor loss = sum(x);
  std::thread reader([copy = x] {
    while (copy.is_tracked()) std::this_thread::yield();
  });
  EXPECT_TRUE(identical(tape.gradient(loss, {x})[0], tensor({1.0, 1.0})));
  reader.join();
  EXPECT_FALSE(x.is_tracked());
}

TEST(GradientTape, FollowsBranchesAndLoops) {
  const auto f = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 5; ++i) y = i % 2 == 0 ? y * x : y + x;
    return y;
  };
  support::expect_gradients_match(f, tensor({0.5, -0.7}));
}

TEST(GradientTape, GivesZerosWhereTheLossDoesNotDepend) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  const Tensor y = tape.watch(scalar(3.0));
  EXPECT_TRUE(identical(tape.gradient(y, {x})[0], tensor({0.0, 0.0})));
}

TEST(GradientTape, OfALossThatIsASource) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const std::vector<Tensor> result = tape.gradient(x, {x, x});
  EXPECT_TRUE(identical(result[0], scalar(1.0)));
  EXPECT_TRUE(identical(result[1], scalar(1.0)));
}

TEST(GradientTape, OfAnUntrackedLossIsZero) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  EXPECT_TRUE(identical(tape.gradient(scalar(1.0), {x})[0], scalar(0.0)));
}

TEST(GradientTape, GivesGradientsOfResultsInBetween) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const Tensor y = x * x;
  EXPECT_EQ(tape.gradient(y * y, {y})[0].item<double>(), 18.0);
}

TEST(GradientTape, TakesCotangentsOfSeveralOutputs) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const std::vector<Tensor> outputs{x * x, x};
  const std::vector<Tensor> cotangents{scalar(1.0), scalar(10.0)};
  EXPECT_EQ(tape.gradient(outputs, cotangents, std::vector<Tensor>{x})[0].item<double>(), 16.0);
}

TEST(GradientTape, LeavesTheCotangentsItWasGiven) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const Tensor one = scalar(1.0);
  const std::vector<Tensor> outputs{x, x};
  const std::vector<Tensor> cotangents{one, one};
  EXPECT_EQ(tape.gradient(outputs, cotangents, std::vector<Tensor>{x})[0].item<double>(), 2.0);
  EXPECT_EQ(one.item<double>(), 1.0);
}

TEST(GradientTape, OfViewsIsZeroOutsideOfThem) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0, 3.0, 4.0}, {2, 2}));
  EXPECT_TRUE(identical(gradients(tape, x[1], tensor({5.0, 6.0}), x)[0], tensor({0.0, 0.0, 5.0, 6.0}, {2, 2})));
}

TEST(GradientTape, OfEmptyViews) {
  GradientTape tape;
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  EXPECT_TRUE(identical(gradients(tape, x.slice(2, 2), tensor<double>({}), x)[0], tensor({0.0, 0.0})));
  GradientTape other;
  const Tensor empty = other.watch(Tensor::uninitialized({3, 0}, DType::float64));
  const Tensor row = empty[2];
  EXPECT_EQ(gradients(other, row, tensor<double>({}), empty)[0].shape(), (Shape{3, 0}));
}

TEST(GradientTape, EndsTheRecordingWithGradient) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const Tensor y = x * x;
  static_cast<void>(tape.gradient(y, {x}));
  EXPECT_FALSE(x.is_tracked());
  EXPECT_FALSE(y.is_tracked());
  EXPECT_EQ(y.item<double>(), 9.0);
  EXPECT_THROW(static_cast<void>(tape.gradient(y, {x})), GradientError);
  EXPECT_THROW(static_cast<void>(tape.watch(x)), GradientError);
}

TEST(GradientTape, ThatIsGoneLeavesTheValues) {
  Tensor y;
  {
    GradientTape tape;
    y = tape.watch(scalar(3.0)) * 2;
    EXPECT_TRUE(y.is_tracked());
  }
  EXPECT_FALSE(y.is_tracked());
  y.mutable_data<double>()[0] += 1;
  EXPECT_EQ(y.item<double>(), 7.0);
}

TEST(GradientTape, RefusesWhatHasNoGradient) {
  GradientTape tape;
  EXPECT_THROW(static_cast<void>(tape.watch(tensor({1}))), DTypeError);
  const Tensor x = tape.watch(tensor({1.0, 2.0}));
  EXPECT_THROW(static_cast<void>(tape.watch(x)), GradientError);
  EXPECT_THROW(static_cast<void>(tape.gradient(x, {x})), ShapeError);
  EXPECT_THROW(static_cast<void>(tape.gradient(scalar(1), {x})), ShapeError);
  EXPECT_THROW(static_cast<void>(tape.gradient(sum(x), {tensor({1.0})})), GradientError);
  EXPECT_THROW(static_cast<void>(gradients(tape, x, tensor({1.0}), x)), ShapeError);
  EXPECT_THROW(static_cast<void>(gradients(tape, x, tensor({1.0f, 2.0f}), x)), ShapeError);
  EXPECT_TRUE(x.is_tracked()) << "a refused call ended the recording";
}

TEST(GradientTape, RefusesTensorsOfTwoTapes) {
  GradientTape first;
  GradientTape second;
  const Tensor x = first.watch(scalar(1.0));
  const Tensor y = second.watch(scalar(1.0));
  EXPECT_THROW(static_cast<void>(x * y), GradientError);
  EXPECT_THROW(static_cast<void>(second.watch(x)), GradientError);
  EXPECT_TRUE((x * stop_gradient(y)).is_tracked());
}

TEST(GradientTape, CarriesALongChain) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(1.0));
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = y.reshape(Shape{});
  EXPECT_EQ(tape.gradient(y, {x})[0].item<double>(), 1.0);
}

TEST(GradientTape, RecordsNothingForConstants) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(1.0));
  const Tensor constant = scalar(2.0) * 3;
  EXPECT_FALSE(constant.is_tracked());
  EXPECT_FALSE(x.astype(DType::int32).is_tracked());
}

TEST(StopGradient, MakesAConstant) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  EXPECT_TRUE(stop_gradient(x).shares_elements_with(x));
  EXPECT_EQ(tape.gradient(x * stop_gradient(x), {x})[0].item<double>(), 3.0);
}

Tensor cube(const Tensor& x) {
  const Tensor value = stop_gradient(x);
  return differentiable(value * value * value, {x},
                        [value](const Tensor& dy) { return std::vector<Cotangent>{dy * value * value * 3}; });
}

TEST(Differentiable, TakesTheGradientOfTheUser) {
  support::expect_gradients_match([](const Tensor& x) { return cube(x); }, tensor({0.5, -2.0}));
}

TEST(Differentiable, DoesNotCopyTheBackwardOfConstants) {
  struct Counting {
    int* copies;
    explicit Counting(int* count) : copies(count) {}
    Counting(const Counting& other) : copies(other.copies) { ++*copies; }
    Counting(Counting&& other) noexcept : copies(other.copies) { ++*copies; }
    std::vector<Cotangent> operator()(const Tensor& dy) const { return {dy}; }
  };
  int copies = 0;
  const Tensor x = scalar(1.0);
  static_cast<void>(differentiable(x, {x}, Counting(&copies)));
  EXPECT_EQ(copies, 0);
}

TEST(Differentiable, OfSeveralOutputsSeesWhichMattered) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  std::vector<bool> given;
  const std::vector<Tensor> outputs = differentiable({scalar(1.0), scalar(2.0)}, std::span<const Tensor>(&x, 1),
                                                     [&given](std::span<const Cotangent> dy) {
                                                       for (const Cotangent& d : dy) given.push_back(d.has_value());
                                                       return std::vector<Cotangent>{scalar(4.0)};
                                                     });
  EXPECT_EQ(tape.gradient(outputs[1], {x})[0].item<double>(), 4.0);
  EXPECT_EQ(given, (std::vector<bool>{false, true}));
}

TEST(Differentiable, WithoutOutputsIsHarmless) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const auto none = differentiable(std::vector<Tensor>{}, std::span<const Tensor>(&x, 1),
                                   [](std::span<const Cotangent>) { return std::vector<Cotangent>{std::nullopt}; });
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(tape.gradient(x * x, {x})[0].item<double>(), 6.0);
}

TEST(Differentiable, RefusesAWrongNumberOfGradients) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const Tensor y = differentiable(scalar(1.0), {x}, [](const Tensor&) { return std::vector<Cotangent>{}; });
  EXPECT_THROW(static_cast<void>(tape.gradient(y, {x})), GradientError);
}

TEST(Differentiable, RefusesAGradientOfAnotherShapeOrType) {
  for (const Tensor& wrong : {tensor({1.0}), scalar(1.0f)}) {
    GradientTape tape;
    const Tensor x = tape.watch(scalar(3.0));
    const Tensor y = differentiable(scalar(1.0), {x}, [&](const Tensor&) { return std::vector<Cotangent>{wrong}; });
    EXPECT_THROW(static_cast<void>(tape.gradient(y, {x})), GradientError);
  }
}

TEST(Differentiable, PassesOnWhatTheBackwardThrows) {
  GradientTape tape;
  const Tensor x = tape.watch(scalar(3.0));
  const Tensor y = differentiable(
      scalar(1.0), {x}, [](const Tensor&) -> std::vector<Cotangent> { throw std::runtime_error("no derivative"); });
  EXPECT_THROW(static_cast<void>(tape.gradient(y, {x})), std::runtime_error);
  EXPECT_FALSE(x.is_tracked());
}

}  // namespace
}  // namespace strata
