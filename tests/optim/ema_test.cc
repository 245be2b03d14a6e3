// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/ema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::optim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Net {
  Param a{tensor({1.0, 2.0})};
  BatchStat stat{tensor({5.0})};
  Variable count{scalar<std::int32_t>(0)};
  STRATA_FIELDS(a, stat, count)
};

TEST(EMA, StartsAsACopyAndFollows) {
  Net net;
  EMA ema(net, 0.75, of_type<Param>);
  EXPECT_EQ(ema.state(), (State{{{"a"}, Param(tensor({1.0, 2.0}))}}));
  net.a.set_value(tensor({5.0, 2.0}));
  ema.update(net);
  EXPECT_EQ(ema.state(), (State{{{"a"}, Param(tensor({2.0, 2.0}))}}));  // 0.75 * 1 + 0.25 * 5
  ema.update(net);
  EXPECT_EQ(ema.state(), (State{{{"a"}, Param(tensor({2.75, 2.0}))}}));
}

TEST(EMA, GivesAModuleWithTheAverages) {
  Net net;
  EMA ema(net, 0.75, of_type<Param>);
  net.a.set_value(tensor({5.0, 2.0}));
  net.stat.set_value(tensor({7.0}));
  ema.update(net);
  const Net smooth = ema.apply_to(net);
  EXPECT_EQ(smooth.a, Param(tensor({2.0, 2.0})));
  EXPECT_EQ(smooth.stat, BatchStat(tensor({7.0})));
  EXPECT_EQ(net.a, Param(tensor({5.0, 2.0})));
}

// The next bfloat16 after 1 is 1.0078125; after n updates with 2 the average is 2 - decay^n.
TEST(EMA, MovesByLessThanATwoByteFloatCanShow) {
  struct Half {
    Param a;
    STRATA_FIELDS(a)
  };
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    Half net{Param(full({2}, 1, dtype))};
    EMA ema(net, 0.9999, of_type<Param>);
    net.a.set_value(full({2}, 2, dtype));
    for (int i = 0; i < 5000; ++i) ema.update(net);
    EXPECT_NEAR(ema.state().at({"a"}).value().at<float>({0}), 2 - std::pow(0.9999, 5000), 1e-3);
    const Half smooth = ema.apply_to(net);
    EXPECT_TRUE(identical(smooth.a, ema.state().at({"a"}).value().astype(dtype)));
    ema.set_state(ema.state());
  }
}

TEST(EMA, RefusesFiltersThatTakeNothingOrIntegers) {
  const Net net;
  EXPECT_THROW(EMA(net, 0.9, of_type<Cache>), FilterError);
  EXPECT_THAT([&] { EMA(net, 0.9, everything); }, ThrowsMessage<DTypeError>(HasSubstr("count")));
}

TEST(EMA, RefusesADecayOutOfRange) {
  const Net net;
  for (const double decay : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(EMA(net, decay, of_type<Param>), ValueError);
  }
}

TEST(EMA, RefusesAnotherModule) {
  Net net;
  EMA ema(net, 0.9, of_type<Param> || of_type<BatchStat>);
  const State before = ema.state();
  const struct Other {
    Param a{tensor({1.0F})};
    STRATA_FIELDS(a)
  } other;
  EXPECT_THAT([&] { ema.update(other); },
              ThrowsMessage<StateError>(
                  AllOf(HasSubstr("a (expected float64[2], got float32[1])"), HasSubstr("stat (missing)"))));
  EXPECT_EQ(ema.state(), before);
}

TEST(EMA, TakesASavedState) {
  const Net net;
  EMA ema(net, 0.9, of_type<Param>);
  const State saved{{{"a"}, Param(tensor({8.0, 9.0}))}};
  ema.set_state(saved);
  EXPECT_EQ(ema.state(), saved);
  EXPECT_THROW(ema.set_state(State()), StateError);
  EXPECT_THROW(ema.set_state(State{{{"b"}, Param(tensor({8.0, 9.0}))}}), StateError);
  EXPECT_EQ(ema.state(), saved);
}

}  // namespace
}  // namespace strata::optim
