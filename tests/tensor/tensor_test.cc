// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/index.h"
#include "strata/tensor/manipulate.h"
#include "support/message_of.h"
#include "support/sanitizer.h"

namespace strata {
namespace {

using support::message_of;

constexpr Index largest = std::numeric_limits<Index>::max();

std::string text_of(const Tensor& t) {
  std::ostringstream text;
  text << t;
  return text.str();
}

TEST(Tensor, ByDefaultIsEmpty) {
  const Tensor t;
  EXPECT_EQ(describe(t), "float32[0]");
  EXPECT_EQ(t.size(), 0);
  EXPECT_TRUE(t.data<float>().empty());
  EXPECT_TRUE(t.bytes().empty());
}

TEST(Tensor, HoldsElementsInRowMajorOrder) {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(describe(t), "int32[2, 3]");
  EXPECT_EQ(t.at<int>({1, 0}), 4);
  EXPECT_EQ(t.at<int>({-1, -1}), 6);
  EXPECT_EQ(t.num_bytes(), 24u);
}

TEST(Tensor, RefusesAWrongNumberOfElements) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(tensor({1, 2, 3}, {2, 2}));
            }),
            "[Tensor] 3 elements do not fill the shape [2, 2].");
  EXPECT_THROW(static_cast<void>(tensor({1}, {0})), ShapeError);
  EXPECT_THROW(static_cast<void>(tensor<int>({}, {})), ShapeError);
}

TEST(Tensor, RefusesMoreBytesThanCanBeAddressed) {
  EXPECT_THROW(static_cast<void>(Tensor::uninitialized({largest}, DType::float64)), Error);
  EXPECT_THROW(static_cast<void>(Tensor::uninitialized({Index{1} << 62}, DType::float32)), Error);
  EXPECT_THROW(static_cast<void>(Tensor::uninitialized({Index{1} << 61}, DType::float64)), Error);
}

TEST(Tensor, RefusesMoreMemoryThanThereIs) {
  if (!support::memory_can_be_refused) GTEST_SKIP();
  EXPECT_EQ(message_of([] {
              static_cast<void>(zeros({Index{1} << 40, Index{1} << 20}));
            }),
            "[Tensor] float32[1099511627776, 1048576] takes 4611686018427387904 bytes, which the system does not have. "
            "Ask for a smaller shape.");
  const Tensor one = scalar(1.0F);
  EXPECT_THROW(static_cast<void>(broadcast_to(one, {Index{1} << 60})), ShapeError);
  EXPECT_THROW(static_cast<void>(repeat(one.reshape({1}), Index{1} << 60, 0)), ShapeError);
  EXPECT_THROW(static_cast<void>(eye(Index{1} << 30)), ShapeError);
  EXPECT_THROW(static_cast<void>(one_hot(tensor({0}), Index{1} << 60)), ShapeError);
  EXPECT_THROW(static_cast<void>(linspace(0, 1, Index{1} << 59)), ShapeError);
}

// Elements of somebody else's memory, of which a copy would take too much.
TEST(Tensor, RefusesToCopyMoreThanThereIsMemoryFor) {
  if (!support::memory_can_be_refused) GTEST_SKIP();
  const std::byte somewhere{};
  const std::span<const double> many(reinterpret_cast<const double*>(&somewhere), std::size_t{1} << 50);
  Tensor t = Tensor::view(many, {Index{1} << 50}, nullptr);
  EXPECT_THROW(static_cast<void>(t.mutable_data<double>()), ShapeError);
  EXPECT_EQ(t.data<double>().data(), many.data());
}

TEST(Tensor, RefusesToShowElementsAsAnotherType) {
  Tensor t = tensor({1.0f});
  EXPECT_EQ(message_of([&] { static_cast<void>(t.data<double>()); }),
            "[Tensor::data] the elements are float32, not float64. Convert with astype.");
  EXPECT_THROW(static_cast<void>(t.mutable_data<std::int32_t>()), DTypeError);
}

TEST(Tensor, CanBeUsedAgainAfterItWasMovedFrom) {
  Tensor t = tensor({1.0f, 2.0f});
  const Tensor moved = std::move(t);
  EXPECT_EQ(moved.size(), 2);
  EXPECT_EQ(t.data<float>().size(), static_cast<std::size_t>(t.size()));
  EXPECT_TRUE(t.size() == 0 || t.data<float>().data() != nullptr);
  t = moved;
  EXPECT_TRUE(identical(t, moved));
}

TEST(Tensor, MayBeAssignedToItself) {
  Tensor t = tensor({1.0f, 2.0f});
  const Tensor& same = t;
  t = same;
  EXPECT_TRUE(identical(t, tensor({1.0f, 2.0f})));
  t = t[1];
  EXPECT_EQ(t.item<float>(), 2.0f);
}

TEST(TensorWrite, IsNotSeenThroughACopy) {
  Tensor a = tensor({1, 2});
  const Tensor b = a;
  EXPECT_TRUE(a.shares_elements_with(b));
  a.mutable_data<int>()[0] = 7;
  EXPECT_EQ(b.at<int>({0}), 1);
  EXPECT_EQ(a.at<int>({0}), 7);
}

TEST(TensorWrite, IsNotSeenThroughASliceNorTheWhole) {
  Tensor whole = tensor({1, 2, 3, 4}, {2, 2});
  Tensor row = whole[1];
  row.mutable_data<int>()[0] = 7;
  EXPECT_EQ(whole.at<int>({1, 0}), 3);
  Tensor other = whole[0];
  whole.mutable_data<int>()[0] = 9;
  EXPECT_EQ(other.at<int>({0}), 1);
}

TEST(TensorWrite, DoesNotCopyElementsThatNobodyShares) {
  Tensor t = tensor({1, 2});
  const int* before = t.data<int>().data();
  EXPECT_EQ(t.mutable_data<int>().data(), before);
}

TEST(TensorWrite, ToASliceThatIsLeftAloneKeepsItsPlace) {
  Tensor t = tensor({1, 2, 3, 4}, {2, 2})[1];
  t.mutable_data<int>()[1] = 7;
  EXPECT_TRUE(identical(t, tensor({3, 7})));
}

TEST(TensorWrite, ToATrackedTensorIsRefused) {
  GradientTape tape;
  Tensor t = tape.watch(tensor({1.0f}));
  EXPECT_THROW(static_cast<void>(t.mutable_data<float>()), GradientError);
  EXPECT_THROW(t.set(0, scalar(1.0f)), GradientError);
}

TEST(TensorWrite, InOneThreadIsNotSeenInAnother) {
  const Tensor shared = tensor({1, 2, 3, 4});
  std::vector<Tensor> copies(4, shared);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    threads.emplace_back([&copies, i] { copies[i].mutable_data<int>()[i] = 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(identical(shared, tensor({1, 2, 3, 4})));
  EXPECT_TRUE(identical(copies[2], tensor({1, 2, 0, 4})));
}

TEST(TensorView, SeesForeignMemoryAndKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const float* elements = owner->data();
  std::weak_ptr<std::vector<float>> watch = owner;
  {
    const Tensor t = Tensor::view(std::span<const float>(*owner), {3}, owner);
    owner.reset();
    EXPECT_EQ(t.data<float>().data(), elements);
    EXPECT_FALSE(watch.expired());
    Tensor copy = t;
    copy.mutable_data<float>()[0] = 9;
    EXPECT_EQ(elements[0], 1.0f);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(TensorView, RefusesAWrongNumberOfElements) {
  const std::vector<float> values(3);
  EXPECT_THROW(static_cast<void>(Tensor::view(std::span<const float>(values), {2}, nullptr)), ShapeError);
  EXPECT_EQ(Tensor::view(std::span<const float>(), {0, 2}, nullptr).shape(), (Shape{0, 2}));
}

TEST(TensorItem, NeedsExactlyOneElement) {
  EXPECT_EQ(tensor({2.5f}, {1, 1}).item<int>(), 2);
  EXPECT_EQ(message_of([] {
              static_cast<void>(tensor({1, 2}).item<int>());
            }),
            "[Tensor::item] there is not exactly one element: the tensor is int32[2].");
  EXPECT_THROW(static_cast<void>(Tensor().item<float>()), ShapeError);
}

TEST(TensorAt, ChecksEveryPosition) {
  const Tensor t = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(scalar(5).at<int>({}), 5);
  EXPECT_EQ(message_of([&] { static_cast<void>(t.at<int>({0})); }),
            "[Tensor::at] 1 positions for a tensor of shape [2, 2].");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(t.at<int>({0, 2}));
            }),
            "[Tensor::at] index 2 is out of range: the axis has 2 entries.");
  EXPECT_THROW(static_cast<void>(t.at<int>({0, -3})), ValueError);
  EXPECT_THROW(static_cast<void>(Tensor().at<int>({0})), ValueError);
}

TEST(TensorSlice, SharesTheElements) {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6}, {3, 2});
  const Tensor last = t[-1];
  EXPECT_EQ(last.data<int>().data(), t.data<int>().data() + 4);
  EXPECT_TRUE(identical(t.slice(1, 3), tensor({3, 4, 5, 6}, {2, 2})));
  EXPECT_TRUE(identical(t.slice(-3, -1), tensor({1, 2, 3, 4}, {2, 2})));
  EXPECT_EQ(t.slice(3, 3).shape(), (Shape{0, 2}));
  EXPECT_EQ(t.slice(3, 3).slice(0, 0).shape(), (Shape{0, 2}));
}

TEST(TensorSlice, OfEmptyTensors) {
  const Tensor t = Tensor::uninitialized({3, 0}, DType::float32);
  const Tensor row = t[2];
  EXPECT_EQ(row.shape(), Shape{0});
  EXPECT_EQ(t.slice(1, 3).shape(), (Shape{2, 0}));
  EXPECT_TRUE(row.bytes().empty());
}

TEST(TensorSlice, RefusesEntriesThatAreNotThere) {
  const Tensor t = tensor({1, 2, 3});
  EXPECT_THROW(static_cast<void>(t[3]), ValueError);
  EXPECT_THROW(static_cast<void>(t[-4]), ValueError);
  EXPECT_THROW(static_cast<void>(t[std::numeric_limits<Index>::min()]), ValueError);
  EXPECT_THROW(static_cast<void>(t.slice(2, 1)), ValueError);
  EXPECT_THROW(static_cast<void>(t.slice(0, 4)), ValueError);
  EXPECT_THROW(static_cast<void>(t.slice(std::numeric_limits<Index>::min(), 1)), ValueError);
  EXPECT_THROW(static_cast<void>(scalar(1)[0]), ShapeError);
  EXPECT_THROW(static_cast<void>(scalar(1).slice(0, 0)), ShapeError);
}

TEST(TensorSlice, NestsAsDeepAsTheRank) {
  const std::vector<Index> sizes(100, 1);
  Tensor t = tensor<int>({7}, Shape(std::span<const Index>(sizes)));
  while (t.rank() > 0) t = t[0];
  EXPECT_EQ(t.item<int>(), 7);
}

TEST(TensorSlice, OfSlicesKeepsNoChain) {
  Tensor t = tensor(std::vector<int>(1000, 3), {1000});
  while (t.size() > 1) t = t.slice(1, t.size());
  EXPECT_EQ(t.item<int>(), 3);
}

TEST(TensorSet, WritesOneEntry) {
  Tensor t = tensor({1, 2, 3, 4}, {2, 2});
  t.set(-1, tensor({8, 9}));
  EXPECT_TRUE(identical(t, tensor({1, 2, 8, 9}, {2, 2})));
}

TEST(TensorSet, TakesASliceOfTheSameTensor) {
  Tensor t = tensor({1, 2, 3, 4}, {2, 2});
  t.set(0, t[1]);
  EXPECT_TRUE(identical(t, tensor({3, 4, 3, 4}, {2, 2})));
}

TEST(TensorSet, ChangesNothingWhereItThrows) {
  Tensor t = tensor({1, 2, 3, 4}, {2, 2});
  EXPECT_THROW(t.set(2, tensor({8, 9})), ValueError);
  EXPECT_THROW(t.set(0, tensor({8})), ShapeError);
  EXPECT_THROW(t.set(0, t), ShapeError);
  EXPECT_THROW(t.set(0, tensor({8.0f, 9.0f})), DTypeError);
  Tensor number = scalar(1);
  EXPECT_THROW(number.set(0, scalar(2)), ShapeError);
  EXPECT_TRUE(identical(t, tensor({1, 2, 3, 4}, {2, 2})));
}

TEST(TensorReshape, KeepsTheElementsAndInfersOneSize) {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(identical(t.reshape({2, -1}), tensor({1, 2, 3, 4, 5, 6}, {2, 3})));
  EXPECT_TRUE(t.reshape({3, 2}).shares_elements_with(t));
  EXPECT_EQ(Tensor().reshape({3, -1}).shape(), (Shape{3, 0}));
  EXPECT_EQ(scalar(1).reshape({-1, 1}).shape(), (Shape{1, 1}));
}

TEST(TensorReshape, RefusesAnotherNumberOfElements) {
  const Tensor t = tensor({1, 2, 3, 4, 5, 6});
  const std::string name = "[Tensor::reshape] ";
  EXPECT_EQ(
      message_of([&] {
        static_cast<void>(t.reshape({4, -1}));
      }),
      name + to_string(t.shape()) + " cannot become [4, -1]: no size in place of -1 gives the number of elements.");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(t.reshape({-1, -1}));
            }),
            name + to_string(t.shape()) + " cannot become [-1, -1]: only one size can be -1.");
  EXPECT_EQ(message_of([&] {
              static_cast<void>(t.reshape({-2, -3}));
            }),
            name + to_string(t.shape()) + " cannot become [-2, -3]: sizes cannot be negative.");
  EXPECT_THROW(static_cast<void>(t.reshape({Index{1} << 40, Index{1} << 40, -1})), ShapeError);
  EXPECT_THROW(static_cast<void>(t.reshape({0, -1})), ShapeError);
  EXPECT_THROW(static_cast<void>(t.reshape({7})), ShapeError);
  EXPECT_THROW(static_cast<void>(t.reshape({-1, largest, largest})), ShapeError);
}

TEST(TensorAstype, ConvertsAndSaturates) {
  const Tensor t = tensor({-1.5f, 0.0f, 300.0f});
  EXPECT_TRUE(identical(t.astype(DType::uint8), tensor<std::uint8_t>({0, 0, 255})));
  EXPECT_TRUE(identical(t.astype(DType::boolean), tensor({true, false, true})));
  EXPECT_TRUE(t.astype(DType::float32).shares_elements_with(t));
  EXPECT_EQ(Tensor().astype(DType::int8).dtype(), DType::int8);
}

TEST(Identical, ComparesTypeShapeAndBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(identical(tensor({nan}), tensor({nan})));
  EXPECT_FALSE(identical(tensor({0.0f}), tensor({-0.0f})));
  EXPECT_FALSE(identical(tensor({1}), tensor({1.0f})));
  EXPECT_FALSE(identical(tensor({1}), tensor({1}, {1, 1})));
  EXPECT_TRUE(identical(Tensor(), tensor<float>({})));
}

TEST(TensorText, ShowsElementsTypeAndShape) {
  EXPECT_EQ(text_of(tensor({1, 2, 3, 4}, {2, 2})), "[[1, 2],\n [3, 4]] int32[2, 2]");
  EXPECT_EQ(text_of(scalar(1.5)), "1.5 float64[]");
  EXPECT_EQ(text_of(tensor({true, false})), "[true, false] bool[2]");
  EXPECT_EQ(text_of(tensor<std::int8_t>({65})), "[65] int8[1]");
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(text_of(tensor({nan, -nan, -0.0F, -std::numeric_limits<float>::infinity()})),
            "[nan, nan, -0, -inf] float32[4]");
  EXPECT_EQ(text_of(tensor({-nan}).astype(DType::float64)), "[nan] float64[1]");
  EXPECT_EQ(text_of(tensor({-nan}).astype(DType::bfloat16)), "[nan] bfloat16[1]");
  EXPECT_EQ(text_of(Tensor::uninitialized({2, 0}, DType::float16)), "float16[2, 0]");
}

TEST(TensorText, AbbreviatesLongAxes) {
  EXPECT_EQ(text_of(tensor({0, 1, 2, 3, 4, 5, 6, 7})), "[0, 1, 2, ..., 5, 6, 7] int32[8]");
  EXPECT_EQ(text_of(tensor({0, 1, 2, 3, 4, 5, 6})), "[0, 1, 2, 3, 4, 5, 6] int32[7]");
}

}  // namespace
}  // namespace strata
