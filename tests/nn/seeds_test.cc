// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strata/nn/dropout.h"
#include "strata/nn/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Net {
  std::vector<Dropout> dropouts;
  Rngs rngs{0};
  STRATA_FIELDS(dropouts, rngs)
};

Net net() {
  Rngs rngs({{"dropout", 3}});
  Net module;
  for (int i = 0; i < 2; ++i) module.dropouts.emplace_back(0.5, rngs);
  static_cast<void>(module.dropouts[0](ones({2})));
  static_cast<void>(module.rngs.draw("default"));
  return module;
}

std::vector<std::uint32_t> key_of(const RngStream& stream) {
  const auto words = stream.key.value().data<std::uint32_t>();
  return {words.begin(), words.end()};
}

TEST(Reseed, GivesStreamsOfTheTagKeysInVisitingOrder) {
  Net module = net();
  const std::vector<std::uint32_t> other = key_of(module.rngs.stream("default"));
  reseed(module, {{"dropout", 0}});
  // flax.nnx.reseed(m, dropout=0), 0.12.8 (random.json).
  EXPECT_EQ(key_of(*module.dropouts[0].rngs), (std::vector<std::uint32_t>{1797259609, 2579123966}));
  EXPECT_EQ(key_of(*module.dropouts[1].rngs), (std::vector<std::uint32_t>{928981903, 3453687069}));
  EXPECT_EQ(module.dropouts[0].rngs->count.value().item<std::uint32_t>(), 0U);
  EXPECT_EQ(key_of(module.rngs.stream("default")), other);
  EXPECT_EQ(module.rngs.stream("default").count.value().item<std::uint32_t>(), 1U);
}

TEST(Reseed, NamesTagsThatNoStreamHas) {
  Net module = net();
  const State before = state(module);
  EXPECT_THAT(
      [&] {
        reseed(module, {{"dropout", 0}, {"droput", 0}});
      },
      ThrowsMessage<StateError>(HasSubstr("the tag: droput.")));
  EXPECT_EQ(state(module), before);
  reseed(module, {{"droput", 0}}, Absent::ignore);
  EXPECT_EQ(state(module), before);
  EXPECT_THROW(reseed(module, {{"dropout", 0}, {"dropout", 1}}), ValueError);
}

TEST(ForkStreams, ReplacesTheStreamsThatTheFilterTakes) {
  Net module = net();
  Net expected = module;
  const RngStream forked = expected.dropouts[0].rngs->fork();
  fork_streams(module, with_tag("dropout"));
  EXPECT_EQ(key_of(*module.dropouts[0].rngs), key_of(forked));
  EXPECT_EQ(module.dropouts[0].rngs->count.value().item<std::uint32_t>(), 0U);
  EXPECT_EQ(key_of(module.rngs.stream("default")), key_of(expected.rngs.stream("default")));
  EXPECT_EQ(module.rngs.stream("default").count.value().item<std::uint32_t>(), 1U);
}

TEST(ForkStreams, OfNoStreamIsAnError) {
  Net module = net();
  EXPECT_THAT([&] { fork_streams(module, with_tag("x")); }, ThrowsMessage<StateError>(HasSubstr("tag('x')")));
}

// nnx.Rngs(params=0, dropout=3), a draw from each, then split({'dropout': 2, ...: None}), Flax 0.12.8. There the count
// of `params` starts again, so that draws come twice; here it goes on.
TEST(SplitStreams, GivesEachCopyItsOwnStreamsOfTheFilter) {
  Rngs rngs({{"params", 0}, {"dropout", 3}});
  static_cast<void>(rngs.draw("params"));
  static_cast<void>(rngs.draw("dropout"));
  std::vector<Rngs> parts = split_streams(rngs, 2, with_tag("dropout"));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(key_of(parts[0].stream("dropout")), (std::vector<std::uint32_t>{1727807664, 1616631547}));
  EXPECT_EQ(key_of(parts[1].stream("dropout")), (std::vector<std::uint32_t>{1749293149, 3807081006}));
  EXPECT_EQ(parts[1].stream("dropout").count.value().item<std::uint32_t>(), 0U);
  EXPECT_EQ(rngs.stream("dropout").count.value().item<std::uint32_t>(), 2U);
  EXPECT_EQ(key_of(parts[1].stream("params")), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(parts[1].stream("params").count.value().item<std::uint32_t>(), 1U);
}

TEST(SplitStreams, CopiesAModule) {
  Net module = net();
  const std::vector<Net> copies = split_streams(module, 3, with_tag("dropout"));
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_NE(key_of(*copies[0].dropouts[0].rngs), key_of(*copies[1].dropouts[0].rngs));
  EXPECT_NE(key_of(*copies[0].dropouts[0].rngs), key_of(*copies[0].dropouts[1].rngs));
  EXPECT_EQ(state(copies[0], of_type<RngState> && path_contains("rngs") && !with_tag("dropout")),
            state(module, of_type<RngState> && path_contains("rngs") && !with_tag("dropout")));
}

TEST(SplitStreams, RefusesWhatTakesNothing) {
  Net module = net();
  const State before = state(module);
  EXPECT_THAT([&] { (void)split_streams(module, 2, with_tag("droput")); },
              ThrowsMessage<StateError>(HasSubstr("takes no random stream")));
  EXPECT_THROW((void)split_streams(module, -1), ValueError);
  EXPECT_EQ(state(module), before);
}

}  // namespace
}  // namespace strata::nn
