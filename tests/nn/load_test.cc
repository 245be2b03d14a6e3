// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strata/nn/linear.h"
#include "strata/nn/split.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "support/deep_state.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

struct Net {
  std::vector<Linear> blocks;
  STRATA_FIELDS(blocks)
};

// blocks/0 and blocks/1, each with a bias [3] and a kernel [2, 3].
Net net() {
  Rngs rngs(0);
  Net module;
  for (int i = 0; i < 2; ++i) module.blocks.emplace_back(2, 3, rngs);
  return module;
}

State::Entry entry(Path path, const Shape& shape, DType dtype = DType::float32) {
  return {std::move(path), Variable(full(shape, 7).astype(dtype))};
}

State whole() {
  return State{entry({"blocks", 0, "bias"}, {3}), entry({"blocks", 0, "kernel"}, {2, 3}),
               entry({"blocks", 1, "bias"}, {3}), entry({"blocks", 1, "kernel"}, {2, 3})};
}

TEST(Load, IsStrictByDefault) {
  Net module = net();
  const LoadReport report = load(module, whole());
  EXPECT_EQ(report.loaded.size(), 4U);
  EXPECT_EQ(to_string(report), "loaded 4 variables\n");
  EXPECT_EQ(module.blocks[1].bias->value().at<float>({2}), 7);
  EXPECT_EQ(module.blocks[1].bias->kind().name, "Param");
}

TEST(Load, ListsEverythingThatDoesNotFitAndChangesNothing) {
  Net module = net();
  const State before = state(module);
  const State other{entry({"blocks", 0, "bias"}, {4}), entry({"blocks", 0, "kernel"}, {2, 3}, DType::float64),
                    entry({"blocks", 1, "kernel"}, {2, 3}), entry({"extra"}, {1})};
  EXPECT_THAT([&] { load(module, other); },
              ThrowsMessage<StateError>(AllOf(HasSubstr("Missing: blocks/1/bias."), HasSubstr("Unused: extra."),
                                              HasSubstr("blocks/0/bias (expected float32[3], got float32[4])"),
                                              HasSubstr("blocks/0/kernel (exp"))));
  EXPECT_EQ(state(module), before);
}

TEST(Load, ReportsWhatTheOptionsAllowed) {
  Net module = net();
  const State other{entry({"blocks", 0, "bias"}, {3}, DType::float64), entry({"blocks", 0, "kernel"}, {6}),
                    entry({"extra"}, {1})};
  const LoadReport report =
      load(module, other, {.allow_missing = true, .allow_unused = true, .reshape = true, .cast = true});
  EXPECT_THAT(report.missing, ElementsAre(Path{"blocks", 1, "bias"}, Path{"blocks", 1, "kernel"}));
  EXPECT_THAT(report.unused, ElementsAre(Path{"extra"}));
  EXPECT_EQ(to_string(report),
            "loaded 2 variables\nmissing blocks/1/bias\nmissing blocks/1/kernel\nunused extra\n"
            "reshaped blocks/0/kernel from [6] to [2, 3]\ncast blocks/0/bias from float64 to float32\n");
  EXPECT_EQ(module.blocks[0].kernel.value().shape(), (Shape{2, 3}));
  EXPECT_EQ(module.blocks[0].bias->value().dtype(), DType::float32);
}

TEST(Load, AnotherNumberOfElementsIsNeverReshaped) {
  Net module = net();
  EXPECT_THROW(load(module, State{entry({"blocks", 0, "bias"}, {4})}, {.allow_missing = true, .reshape = true}),
               StateError);
}

TEST(Load, DigitsReachPositions) {
  Net module = net();
  const LoadReport report = load(module, State{entry({"blocks", "1", "bias"}, {3})}, {.allow_missing = true});
  EXPECT_THAT(report.loaded, ElementsAre(Path{"blocks", 1, "bias"}));
  ASSERT_EQ(report.renamed.size(), 1U);
  EXPECT_EQ(report.renamed[0].from, (Path{"blocks", "1", "bias"}));
}

TEST(Load, DottedNamesThroughRules) {
  Net module = net();
  const State torch{entry({"model.layers.0.proj.b"}, {3}), entry({"model.layers.1.proj.w"}, {2, 3}),
                    entry({"model.head.bias"}, {3})};
  const LoadReport report =
      load(module, torch,
           {.allow_missing = true,
            .separator = ".",
            .rename = {rename_glob("model/layers/*/proj/w", "blocks/{1}/kernel"),
                       rename_glob("model/layers/0/**/b", "blocks/0/bias"), rename_prefix("model/head", "blocks/1"),
                       [](const Path& path) -> std::optional<Path> { return path; }}});
  EXPECT_THAT(report.loaded,
              ElementsAre(Path{"blocks", 0, "bias"}, Path{"blocks", 1, "bias"}, Path{"blocks", 1, "kernel"}));
}

TEST(Load, TwoEntriesForOneVariableAreAnError) {
  Net module = net();
  const State twice{entry({"blocks", 0, "bias"}, {3}), entry({"blocks", "0", "bias"}, {3})};
  EXPECT_THAT([&] { load(module, twice, {.allow_missing = true}); },
              ThrowsMessage<StateError>(HasSubstr("blocks/0/bias and blocks/'0'/bias (both for blocks/0/bias)")));
}

struct Link {
  std::unique_ptr<Link> b;
  Param a{scalar(0.0)};
  STRATA_FIELDS(b, a)
};

TEST(Load, OfADeepChain) {
  constexpr int depth = 100000;
  Link first;
  Link* last = &first;
  for (int i = 1; i < depth; ++i) last = (last->b = std::make_unique<Link>()).get();
  const LoadReport report = load(first, support::chain(depth, 2));
  EXPECT_EQ(report.loaded.size(), static_cast<std::size_t>(depth));
  EXPECT_TRUE(report.renamed.empty());
  EXPECT_EQ(last->a.value().item<double>(), 2);
  EXPECT_THAT([&] { load(first, State()); }, ThrowsMessage<StateError>(HasSubstr("Missing: a, b/a, ")));
  for (auto next = std::move(first.b); next;) next = std::exchange(next->b, nullptr);
}

TEST(RenamePrefix, LeavesOtherPathsToOtherRules) {
  const RenameRule rule = rename_prefix("a/b", "c");
  EXPECT_EQ(rule({"a", "b", 0}), (Path{"c", 0}));
  EXPECT_EQ(rule({"a", "b"}), Path{"c"});
  EXPECT_EQ(rule({"a", "bc"}), std::nullopt);
  EXPECT_EQ(rename_prefix("a", "")({"a", "x"}), Path{"x"});
}

TEST(RenameGlob, StarsTakeOneKeyOrAny) {
  const RenameRule rule = rename_glob("a/*/**/w", "{2}/x/{1}");
  EXPECT_EQ(rule({"a", 1, "w"}), (Path{"x", 1}));
  EXPECT_EQ(rule({"a", 1, "b", "w", "w"}), (Path{"b", "w", "x", 1}));
  EXPECT_EQ(rule({"a", "w"}), std::nullopt);
  EXPECT_EQ(rule({"a", 1, "w", "v"}), std::nullopt);
  EXPECT_THAT([] { (void)rename_glob("a/*", "{2}"); }, ThrowsMessage<ValueError>(HasSubstr("{2}")));
}

}  // namespace
}  // namespace strata::nn
