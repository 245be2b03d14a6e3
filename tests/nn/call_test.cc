// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <tuple>

#include "strata/nn/activations.h"
#include "strata/nn/linear.h"
#include "strata/nn/sequential.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata::nn {
namespace {

using testing::ElementsAre;

struct TwoHeads {
  std::shared_ptr<Linear> body;
  Linear head;
  std::shared_ptr<Linear> same = body;
  Variable calls{zeros({}, DType::int32)};

  explicit TwoHeads(Rngs& rngs) : body(std::make_shared<Linear>(4, 8, rngs)), head(8, 2, rngs) {}

  std::tuple<Tensor, Tensor> operator()(const Tensor& x, double scale) {
    calls.set_value(ones({}, DType::int32));
    const Tensor y = call(*body, x);
    return {call(head, y), call(head, y) * scale};
  }
  STRATA_FIELDS(body, head, same, calls)
};

std::vector<CallRow> traced() {
  Rngs rngs(0);
  return trace_calls(TwoHeads(rngs), [](TwoHeads& m) { return call(m, zeros({3, 4}), 0.5); });
}

TEST(TraceCalls, GivesARowForEachDifferentCall) {
  const std::vector<CallRow> rows = traced();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].path, Path());
  EXPECT_THAT(rows[0].inputs, ElementsAre("float32[3, 4]", "double"));
  EXPECT_THAT(rows[0].outputs, ElementsAre("float32[3, 2]", "float32[3, 2]"));
  EXPECT_EQ(rows[1].path, Path{"body"});  // the first of the names of the shared module
  EXPECT_THAT(rows[1].outputs, ElementsAre("float32[3, 8]"));
  EXPECT_EQ(rows[2].path, Path{"head"});
  EXPECT_EQ(rows[2].times, 2);
}

TEST(TraceCalls, CountsWhatIsBelow) {
  const std::vector<CallRow> rows = traced();
  EXPECT_EQ(rows[0].elements, 4 * 8 + 8 + 8 * 2 + 2 + 1);
  EXPECT_EQ(rows[1].bytes, 160U);
  EXPECT_EQ(rows[2].elements, 18);
}

TEST(TraceCalls, LeavesTheModuleAsItWas) {
  Rngs rngs(0);
  const TwoHeads model(rngs);
  (void)trace_calls(model, [](TwoHeads& m) { return call(m, zeros({3, 4}), 0.5); });
  EXPECT_EQ(model.calls.value().item<std::int32_t>(), 0);
}

TEST(TraceCalls, SeesTheLayersOfASequential) {
  Rngs rngs(0);
  const Sequential model{Linear(4, 8, rngs), relu, Linear(8, 2, rngs)};
  const auto rows = trace_calls(model, [](auto& m) { return call(m, zeros({3, 4})); });
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1].path, (Path{"layers", 0}));
  EXPECT_EQ(rows[2].path, (Path{"layers", 2}));
  EXPECT_THAT(rows[2].outputs, ElementsAre("float32[3, 2]"));
}

TEST(TraceCalls, LeavesOutModulesOfOthers) {
  Rngs rngs(0);
  Linear other(4, 4, rngs);
  EXPECT_THAT(trace_calls(Linear(4, 4, rngs), [&](Linear&) { return call(other, zeros({1, 4})); }), testing::IsEmpty());
}

TEST(TraceCalls, EndsWhereTheRunThrows) {
  Rngs rngs(0);
  Linear layer(4, 4, rngs);
  EXPECT_THROW((void)trace_calls(layer, [](Linear&) { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_EQ(internal::CallTrace::current(), nullptr);
}

TEST(TraceCalls, AsText) {
  const std::vector<CallRow> rows{
      {{"head"}, "strata::nn::Linear", {"float32[3, 8]", "double"}, {"float32[3, 2]"}, 18, 72, 2}};
  EXPECT_EQ(to_string(rows),
            "path  type    inputs                 outputs        elements  bytes  times\n"
            "head  Linear  float32[3, 8], double  float32[3, 2]        18   72 B      2\n");
}

}  // namespace
}  // namespace strata::nn
