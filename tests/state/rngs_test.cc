// SPDX-License-Identifier: Apache-2.0
#include "strata/state/rngs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "strata/state/internal/clone.h"
#include "strata/state/internal/leaves.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

// Keys are those of Flax 0.12 for the same seeds: tests/golden/nnx/random.json, "rngs" of seed 0.

State state_of(Rngs& rngs) { return internal::state_of(internal::node_of(rngs)); }

TEST(RngStream, DrawsFoldTheCountIntoTheKey) {
  RngStream stream("params", random::key(0));
  EXPECT_EQ(stream.draw(), (RandomKey{1797259609, 2579123966}));
  EXPECT_EQ(stream.draw(), (RandomKey{928981903, 3453687069}));
}

TEST(RngStream, CountsItsDraws) {
  RngStream stream("params", random::key(0));
  (void)stream.draw();
  (void)stream.draw();
  EXPECT_EQ(stream.count.value().item<std::uint32_t>(), 2u);
}

TEST(RngStream, CountStartsAgainAfterTheLastNumber) {
  RngStream stream("params", random::key(0));
  stream.count.set_value(scalar<std::uint32_t>(4294967295u));
  (void)stream.draw();
  EXPECT_EQ(stream.count.value().item<std::uint32_t>(), 0u);
}

TEST(RngStream, TagsBothVariablesWithItsName) {
  const RngStream stream("dropout", random::key(0));
  ASSERT_NE(stream.key.tag(), nullptr);
  ASSERT_NE(stream.count.tag(), nullptr);
  EXPECT_EQ(*stream.key.tag(), "dropout");
  EXPECT_EQ(*stream.count.tag(), "dropout");
}

TEST(RngStream, ForkStartsFromTheNextKeyUnderTheSameName) {
  RngStream stream("dropout", random::key(1));
  (void)stream.draw();
  const RngStream forked = stream.fork();
  EXPECT_TRUE(identical(forked.key, tensor<std::uint32_t>({1948878966, 4237131848})));
  EXPECT_EQ(forked.count.value().item<std::uint32_t>(), 0u);
  EXPECT_EQ(*forked.key.tag(), "dropout");
  EXPECT_EQ(stream.count.value().item<std::uint32_t>(), 2u);
}

TEST(RngStream, DrawRefusesAKeyOfAnotherShapeAndCountsNothing) {
  RngStream stream("params", random::key(0));
  stream.key.reset(tensor<std::uint32_t>({1, 2, 3}));
  EXPECT_THROW((void)stream.draw(), StateError);
  EXPECT_EQ(stream.count.value().item<std::uint32_t>(), 0u);
}

TEST(Rngs, UnknownNamesDrawFromDefault) {
  Rngs rngs(0, {{"dropout", 1}});
  EXPECT_EQ(rngs.draw("default"), (RandomKey{1797259609, 2579123966}));
  EXPECT_EQ(rngs.draw("default"), (RandomKey{928981903, 3453687069}));
  EXPECT_EQ(rngs.draw("unknown"), (RandomKey{4146024105, 2718843009}));
}

TEST(Rngs, NamedStreamsCountOnTheirOwn) {
  Rngs rngs(0, {{"dropout", 1}});
  (void)rngs.draw("default");
  EXPECT_EQ(rngs.draw("dropout"), (RandomKey{507451445, 1853169794}));
}

TEST(Rngs, ForkTakesOneKeyOfEachStream) {
  Rngs rngs(0, {{"dropout", 1}});
  for (const char* name : {"default", "default", "unknown", "dropout"}) (void)rngs.draw(name);
  Rngs forked = rngs.fork();
  EXPECT_TRUE(identical(forked.stream("dropout").key, tensor<std::uint32_t>({1948878966, 4237131848})));
  EXPECT_TRUE(identical(forked.stream("default").key, tensor<std::uint32_t>({2467461003, 3840466878})));
  EXPECT_EQ(forked.stream("default").count.value().item<std::uint32_t>(), 0u);
  EXPECT_EQ(rngs.stream("dropout").count.value().item<std::uint32_t>(), 2u);
  EXPECT_EQ(rngs.stream("default").count.value().item<std::uint32_t>(), 4u);
}

TEST(Rngs, SeedsAreTakenModuloTwoToThePowerOf32) {
  Rngs rngs(-1);
  EXPECT_TRUE(identical(rngs.stream("default").key, tensor<std::uint32_t>({0, 4294967295u})));
}

TEST(Rngs, WithoutDefaultAnUnknownNameIsAnError) {
  Rngs rngs({{"params", 7}});
  EXPECT_THROW((void)rngs.draw("dropout"), StateError);
  EXPECT_NO_THROW((void)rngs.draw("params"));
}

// The keys of flax.nnx 0.12.8: Rngs(0).split(3).
TEST(Rngs, SplitsOffStreamsOfTheSameNames) {
  Rngs rngs(0);
  std::vector<Rngs> sets = rngs.split(3);
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_TRUE(identical(sets[0].stream("default").key, tensor<std::uint32_t>({4165894930, 804218099})));
  EXPECT_TRUE(identical(sets[2].stream("default").key, tensor<std::uint32_t>({2839387376, 2467677468})));
  EXPECT_EQ(sets[0].draw("params"), (RandomKey{683029726, 1624662641}));
  EXPECT_EQ(rngs.stream("default").count.value().item<int>(), 1);
  EXPECT_THROW((void)rngs.split(-1), ValueError);
}

TEST(Rngs, AStreamWithTwoSeedsIsAnError) {
  EXPECT_THROW(Rngs(0, {{"default", 1}}), ValueError);
  EXPECT_THROW(Rngs({{"a", 1}, {"a", 2}}), ValueError);
}

TEST(Rngs, StreamsArePartOfTheState) {
  Rngs rngs(0, {{"dropout", 1}});
  const State state = state_of(rngs);
  ASSERT_EQ(state.size(), 4);
  EXPECT_EQ(describe(state.at(Path::parse("default/count"))), "RngCount uint32[]");
  EXPECT_EQ(describe(state.at(Path::parse("dropout/key"))), "RngKey uint32[2]");
}

TEST(Rngs, CloneDrawsTheSameKeysWithoutTouchingTheOriginal) {
  Rngs rngs(0);
  Rngs copy = internal::clone(rngs);
  EXPECT_EQ(copy.draw("default"), (RandomKey{1797259609, 2579123966}));
  EXPECT_EQ(rngs.stream("default").count.value().item<std::uint32_t>(), 0u);
}

TEST(Rngs, NamesMayBeKnownAtRunTimeOnly) {
  const std::map<std::string, std::int64_t> seeds{{"a", 1}, {"b", 2}, {"c", 3}, {"default", 4}};
  Rngs rngs(seeds);
  EXPECT_EQ(rngs.draw("c"), Rngs({{"c", 3}}).draw("c"));
  EXPECT_EQ(rngs.draw("other"), Rngs(4).draw("other"));
}

}  // namespace
}  // namespace strata
