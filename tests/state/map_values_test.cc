// SPDX-License-Identifier: Apache-2.0
#include "strata/state/map_values.h"

#include <gtest/gtest.h>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"

namespace strata {
namespace {

TEST(MapValues, ATensorTakesKindAndMetadata) {
  const State state{{{"a"}, Param(ones({2}), tagged("lora"))}};
  const State doubled = map_values(state, [](const Path&, const Variable& v) { return v.value() * 2; });
  EXPECT_EQ(doubled, (State{{{"a"}, Param(full({2}, 2.0F), tagged("lora"))}}));
  EXPECT_EQ(state.at({"a"}).value().at<float>({0}), 1);
}

TEST(MapValues, AVariableReplacesKindAndMetadata) {
  const State state{{{"a"}, Param(ones({2}))}, {{"b"}, Param(ones({2}))}};
  const State mapped = map_values(state, [](const Path& path, const Variable& v) {
    return path == Path{"a"} ? Variable(BatchStat(v.value())) : v;
  });
  EXPECT_EQ(mapped, (State{{{"a"}, BatchStat(ones({2}))}, {{"b"}, Param(ones({2}))}}));
}

}  // namespace
}  // namespace strata
