// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/mode.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/split.h"

namespace strata::nn {
namespace {

struct Block {
  BatchNorm norm;
  std::vector<Dropout> dropouts;
  std::shared_ptr<Dropout> shared;
  bool other = false;
  int deterministic = 7;
  STRATA_FIELDS(norm, dropouts, shared, other, deterministic)
};

Block block() {
  Rngs rngs(0);
  return Block{BatchNorm(2, rngs), {Dropout(0.5, rngs), Dropout(0.5, rngs)}, std::make_shared<Dropout>(0.5, rngs)};
}

TEST(Eval, SetsEveryModuleBelow) {
  Block module = block();
  eval(module);
  EXPECT_TRUE(module.norm.use_running_average);
  for (const Dropout& dropout : module.dropouts) EXPECT_TRUE(dropout.deterministic);
  EXPECT_TRUE(module.shared->deterministic);
}

TEST(Train, SetsEveryModuleBelow) {
  Block module = block();
  eval(module);
  train(module);
  EXPECT_FALSE(module.norm.use_running_average);
  for (const Dropout& dropout : module.dropouts) EXPECT_FALSE(dropout.deterministic);
  EXPECT_FALSE(module.shared->deterministic);
}

TEST(Eval, LeavesOtherFieldsAndVariablesAlone) {
  Block module = block();
  const State before = state(module);
  eval(module);
  EXPECT_FALSE(module.other);
  EXPECT_EQ(module.deterministic, 7);
  EXPECT_EQ(state(module), before);
}

TEST(Eval, OfAModuleAlone) {
  Rngs rngs(0);
  Dropout dropout(0.5, rngs);
  eval(dropout);
  EXPECT_TRUE(dropout.deterministic);
}

}  // namespace
}  // namespace strata::nn
