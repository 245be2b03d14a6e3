// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "recurrent/cells.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/error.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Index steps = 6;
constexpr Index in = 5;

template <class C>
class Streams : public testing::Test {
 protected:
  static C cell(Index hidden) {
    Rngs rngs(3);
    return C{in, hidden, rngs, {.bias_init = nn::initializers::normal(0.3)}};
  }
  static Tensor input(Index batch, int seed) { return random::normal(random::key(seed), {batch, steps, in}); }

  // The outputs over x [batch, steps, in], as [batch, steps, hidden].
  static Tensor run(Stream<C>& stream, const Tensor& x, Index hidden) {
    std::vector<Tensor> outputs;
    for (Index t = 0; t < x.size(1); ++t) {
      Tensor y = zeros({x.size(0), hidden});
      const Tensor x_t = slice_axis(x, 1, t, t + 1);
      stream.step(x_t.data<float>(), y.mutable_data<float>());
      outputs.push_back(y);
    }
    return stack(outputs, 1);
  }
};
using Cells = testing::Types<LSTMCell, OptimizedLSTMCell, GRUCell, SimpleCell>;
TYPED_TEST_SUITE(Streams, Cells);

template <class Carry>
bool same_bits(const Carry& a, const Carry& b) {
  bool same = true;
  internal::for_each_tensor(
      [&](const std::string&, const Tensor& left, const Tensor& right) { same = same && identical(left, right); }, "",
      a, b);
  return same;
}

TYPED_TEST(Streams, GiveTheBitsOfTheSequence) {
  for (const Index batch : {1, 2, 7}) {
    for (const Index hidden : {1, 8, 19, 70}) {
      TypeParam cell = this->cell(hidden);
      const Tensor x = this->input(batch, 1);
      auto stream = recurrent::stream(cell, batch);
      const auto expected = scan(cell, x);
      EXPECT_TRUE(identical(this->run(stream, x, hidden), expected.y)) << batch << " " << hidden;
      EXPECT_TRUE(same_bits(stream.state(), expected.carry)) << batch << " " << hidden;
    }
  }
}

TYPED_TEST(Streams, GoOnFromAStateThatWasSaved) {
  auto stream = recurrent::stream(this->cell(9), 2);
  const Tensor x = this->input(2, 1);
  this->run(stream, x, 9);
  const auto saved = stream.state();
  const Tensor next = this->run(stream, x, 9);
  stream.set_state(saved);
  EXPECT_TRUE(same_bits(stream.state(), saved));
  EXPECT_TRUE(identical(this->run(stream, x, 9), next));
}

TYPED_TEST(Streams, BeginAnewAfterReset) {
  auto stream = recurrent::stream(this->cell(9), 2);
  const Tensor x = this->input(2, 1);
  const Tensor first = this->run(stream, x, 9);
  stream.reset();
  EXPECT_TRUE(identical(this->run(stream, x, 9), first));
}

TYPED_TEST(Streams, ShareWeightsInSeveralThreads) {
  TypeParam cell = this->cell(33);
  const PackedCell<TypeParam> packed(cell);
  std::vector<Tensor> results(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      auto stream = recurrent::stream(packed, 3);
      for (int round = 0; round < 20; ++round) {
        stream.reset();
        results[i] = this->run(stream, this->input(3, static_cast<int>(i)), 33);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(identical(results[i], scan(cell, this->input(3, static_cast<int>(i))).y)) << i;
  }
}

TYPED_TEST(Streams, KeepTheWeightsTheyWereMadeOf) {
  TypeParam cell = this->cell(4);
  const Tensor x = this->input(1, 1);
  const Tensor before = scan(cell, x).y;
  auto stream = recurrent::stream(cell, 1);
  cell.options.bias_init = nn::initializers::zeros();
  cell = this->cell(4);
  EXPECT_TRUE(identical(this->run(stream, x, 4), before));
}

TYPED_TEST(Streams, HaveTheSameBitsWithThePool) {
  TypeParam cell = this->cell(300);
  auto alone = recurrent::stream(cell, 8);
  auto pooled = recurrent::stream(cell, 8, {.use_thread_pool = true});
  const Tensor x = this->input(8, 1);
  EXPECT_TRUE(identical(this->run(alone, x, 300), this->run(pooled, x, 300)));
}

TYPED_TEST(Streams, RefuseAStateOfAnotherShapeOrTypeAndKeepTheirOwn) {
  auto stream = recurrent::stream(this->cell(4), 2);
  this->run(stream, this->input(2, 1), 4);
  const auto before = stream.state();
  auto wrong = before;
  wrong.h = zeros({3, 4});
  EXPECT_THAT([&] { stream.set_state(wrong); },
              ThrowsMessage<ShapeError>(AllOf(HasSubstr("`h`"), HasSubstr("[3, 4]"), HasSubstr("[2, 4]"))));
  wrong.h = zeros({2, 4}, DType::float64);
  EXPECT_THROW(stream.set_state(wrong), DTypeError);
  EXPECT_TRUE(same_bits(stream.state(), before));
}

TYPED_TEST(Streams, EndTheProgramWhereASpanHasAnotherSize) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto stream = recurrent::stream(this->cell(4), 2);
  std::vector<float> x(9);
  std::vector<float> y(8);
  EXPECT_DEATH(stream.step(x, y), "got 9 numbers and room for 8, expected 10 and 8. The program ends here");
}

TEST(Stream, RefusesNoSequences) {
  Rngs rngs(0);
  const GRUCell cell(2, 3, rngs);
  EXPECT_THROW((void)stream(cell, 0), ShapeError);
  EXPECT_THROW((void)stream(cell, -1), ShapeError);
}

TEST(Stream, RefusesCellsThatRunByTensorOperations) {
  Rngs rngs(0);
  EXPECT_THROW((void)stream(GRUCell(2, 3, rngs, {.form = GRUForm::reset_before}), 1), ValueError);
  EXPECT_THROW((void)stream(LSTMCell(2, 3, rngs, {.gate = relu}), 1), ValueError);
  EXPECT_THROW((void)stream(LSTMCell(2, 3, rngs, {.param_dtype = DType::float64}), 1), DTypeError);
  EXPECT_THROW((void)stream(LSTMCell(2, 3, rngs, {.dtype = DType::bfloat16}), 1), DTypeError);
}

TEST(Stream, TakesTheForwardCellOfABidirectionalLayer) {
  Rngs rngs(0);
  const Bidirectional<LSTMCell> encoder{LSTMCell{2, 3, rngs}, LSTMCell{2, 3, rngs}};
  auto forward = stream(encoder.forward_cell(), /*batch=*/1);
  std::vector<float> y(3);
  forward.step(std::vector<float>{1, 2}, y);
  EXPECT_EQ(elements(forward.state().h), std::vector<double>(y.begin(), y.end()));
}

}  // namespace
}  // namespace strata::recurrent
