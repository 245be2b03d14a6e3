// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/filters/tensor_filters.h"
#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> paths_of(const State& state) {
  std::vector<std::string> paths;
  for (const auto& [path, variable] : state) paths.push_back(to_string(path));
  return paths;
}

struct Classifier {
  Linear encoder;
  BatchNorm norm;
  Dropout dropout;
  Linear head;

  explicit Classifier(Rngs& rngs) : encoder{4, 8, rngs}, norm{8, rngs}, dropout{0.2, rngs}, head{8, 3, rngs} {}
  Tensor operator()(const Tensor& x) { return head(dropout(norm(encoder(x)))); }
  STRATA_FIELDS(encoder, norm, dropout, head)
};

Classifier classifier(std::int64_t seed = 0) {
  Rngs rngs(seed);
  return Classifier(rngs);
}

TEST(State, HasEveryVariableUnderItsPath) {
  EXPECT_THAT(paths_of(state(classifier())),
              ElementsAre("dropout/rngs/count", "dropout/rngs/key", "encoder/bias", "encoder/kernel", "head/bias",
                          "head/kernel", "norm/bias", "norm/mean", "norm/scale", "norm/var"));
}

// cases/state-04: selecting is not splitting.
TEST(State, WithFiltersLeavesOutWhatNoneTakes) {
  const Classifier model = classifier();
  EXPECT_THAT(paths_of(state(model, of_type<BatchStat>)), ElementsAre("norm/mean", "norm/var"));
  const auto [stats, head] = state(model, of_type<BatchStat>, path_contains("head"));
  EXPECT_THAT(paths_of(stats), ElementsAre("norm/mean", "norm/var"));
  EXPECT_THAT(paths_of(head), ElementsAre("head/bias", "head/kernel"));
}

TEST(State, WithFiltersKeepsTheRuleOfRest) {
  EXPECT_THROW((void)state(classifier(), rest, of_type<Param>), FilterError);
}

TEST(State, WritingToItDoesNotChangeTheModule) {
  const Classifier model = classifier();
  State values = state(model);
  values.at({"head", "bias"}).set_value(ones({3}));
  EXPECT_TRUE(identical(model.head.bias->value(), zeros({3})));
}

TEST(State, WritingToTheModuleDoesNotChangeIt) {
  Classifier model = classifier();
  const State values = state(model);
  Tensor bias = model.head.bias->value();
  bias.mutable_data<float>()[0] = 1;
  model.head.bias->set_value(bias);
  EXPECT_TRUE(identical(values.at({"head", "bias"}), zeros({3})));
}

TEST(State, CopiesNoTensor) {
  const Classifier model = classifier();
  const State values = state(model);
  EXPECT_TRUE(values.at({"head", "kernel"}).value().shares_elements_with(model.head.kernel));
}

// cases/state-02: list positions are integers in numeric order.
TEST(State, ListPositionsAreIntegersInNumericOrder) {
  struct Blocks {
    std::vector<Param> blocks;
    STRATA_FIELDS(blocks)
  } module;
  for (int i = 0; i < 12; ++i) module.blocks.push_back(Param(scalar(static_cast<float>(i))));
  const State values = state(module);
  ASSERT_EQ(values.size(), 12);
  int position = 0;
  for (const auto& [path, variable] : values) {
    EXPECT_EQ(path, (Path{"blocks", position}));
    EXPECT_EQ(variable.value().item<float>(), static_cast<float>(position++));
  }
}

// ---------------------------------------------------------------- tied variables: cases/state-01

struct Encoder {
  std::shared_ptr<Param> embedding = std::make_shared<Param>(tensor({0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {3, 2}));
  STRATA_FIELDS(embedding)
};
struct Decoder {
  std::shared_ptr<Param> kernel;
  Param bias{zeros({3})};
  STRATA_FIELDS(kernel, bias)
};
struct LanguageModel {
  Encoder encoder;
  Decoder decoder{encoder.embedding};
  STRATA_FIELDS(encoder, decoder)
};

TEST(TiedVariables, AreStoredOnceUnderTheFirstName) {
  const auto [graph, values] = split(LanguageModel());
  EXPECT_THAT(paths_of(values), ElementsAre("decoder/bias", "decoder/kernel"));
  EXPECT_EQ(values.num_elements(), 9);
}

TEST(TiedVariables, AreTiedAfterMerge) {
  const auto [graph, values] = split(LanguageModel());
  const LanguageModel merged = merge(graph, values);
  merged.encoder.embedding->set_value(full({3, 2}, 9.0F));
  EXPECT_TRUE(identical(*merged.decoder.kernel, full({3, 2}, 9.0F)));
}

TEST(TiedVariables, AreTiedInACloneButNotToTheOriginal) {
  const LanguageModel model;
  const LanguageModel copy = clone(model);
  copy.decoder.kernel->set_value(zeros({3, 2}));
  EXPECT_TRUE(identical(*copy.encoder.embedding, zeros({3, 2})));
  EXPECT_EQ(model.encoder.embedding->value().at<float>({2, 1}), 5);
}

TEST(TiedVariables, StayTiedInACopyOfCpp) {
  const LanguageModel model;
  const LanguageModel copy = model;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.decoder.kernel, model.encoder.embedding);
}

TEST(TiedModules, AreOneNode) {
  Rngs rngs(0);
  struct Siamese {
    std::shared_ptr<Linear> left;
    std::shared_ptr<Linear> right;
    STRATA_FIELDS(left, right)
  };
  Siamese module{std::make_shared<Linear>(2, 2, rngs), nullptr};
  module.right = module.left;
  const auto [graph, values] = split(module);
  EXPECT_THAT(paths_of(values), ElementsAre("left/bias", "left/kernel"));
  const Siamese merged = merge(graph, values);
  EXPECT_EQ(merged.left, merged.right);
  EXPECT_NE(merged.left, module.left);
}

// ---------------------------------------------------------------- split and merge

TEST(Split, WithoutFiltersGivesOneState) {
  const Classifier model = classifier();
  const auto [graph, values] = split(model);
  EXPECT_EQ(values, state(model));
  EXPECT_EQ(graph, graph_def(model));
}

TEST(Split, OfTheDesign) {
  const Classifier model = classifier();
  const auto [graph, params, stats, others] = split(model, of_type<Param>, of_type<BatchStat>, rest);
  EXPECT_EQ(params.size(), 6);
  EXPECT_EQ(stats.size(), 2);
  EXPECT_EQ(others.size(), 2);
  const Classifier same = merge(graph, others, params, stats);
  EXPECT_EQ(state(same), state(model));
}

TEST(Split, LeftoversAreAnError) {
  EXPECT_THAT([] { (void)split(classifier(), of_type<Param>, of_type<BatchStat>); },
              ThrowsMessage<StateError>(AllOf(HasSubstr("dropout/rngs/count"), HasSubstr("dropout/rngs/key"))));
}

TEST(Split, OfAContainerOrAPointerAtTheRoot) {
  Rngs rngs(0);
  const std::vector<Linear> list{Linear(2, 2, rngs), Linear(2, 2, rngs)};
  const auto pointer = std::make_shared<Linear>(2, 2, rngs);
  const Param alone(ones({2}));
  EXPECT_THAT(paths_of(state(list)), ElementsAre("0/bias", "0/kernel", "1/bias", "1/kernel"));
  EXPECT_THAT(paths_of(state(pointer)), ElementsAre("bias", "kernel"));
  EXPECT_THAT(paths_of(state(alone)), ElementsAre(""));
  const auto [graph, values] = split(list);
  EXPECT_EQ(state(merge(graph, values)), values);
}

TEST(Merge, RefusesAPathGivenTwice) {
  const auto [graph, params, others] = split(classifier(), of_type<Param>, rest);
  EXPECT_THAT(([&g = graph, &p = params, &o = others] { (void)merge(g, p, o, p); }),
              ThrowsMessage<StateError>(HasSubstr("Given more than once: encoder/bias")));
}

TEST(Merge, RefusesAMissingGroup) {
  const auto [graph, params, others] = split(classifier(), of_type<Param>, rest);
  EXPECT_THAT(([&g = graph, &p = params] { (void)merge(g, p); }),
              ThrowsMessage<StateError>(HasSubstr("Missing: dropout/rngs/count (RngCount uint32[])")));
}

TEST(Merge, RunsLikeTheOriginal) {
  Classifier model = classifier();
  const auto [graph, values] = split(model);
  Classifier merged = merge(graph, values);
  const Tensor x = ones({5, 4});
  EXPECT_TRUE(identical(merged(x), model(x)));
}

// ---------------------------------------------------------------- update: cases/state-08

struct Layer {
  Param kernel{zeros({2, 3})};
  Param bias{zeros({3})};
  STRATA_FIELDS(kernel, bias)
};

TEST(Update, APartialOneLeavesTheRestAlone) {
  Layer layer;
  update(layer, State{{{"bias"}, Param(ones({3}))}});
  EXPECT_TRUE(identical(layer.bias, ones({3})));
  EXPECT_TRUE(identical(layer.kernel, zeros({2, 3})));
}

TEST(Update, RefusesAnotherShape) {
  Layer layer;
  EXPECT_THAT(
      [&] {
        update(layer, State{{{"kernel"}, Param(zeros({5, 7}))}});
      },
      ThrowsMessage<StateError>(AllOf(HasSubstr("kernel"), HasSubstr("[2, 3]"), HasSubstr("[5, 7]"))));
}

TEST(Update, RefusesAnotherElementType) {
  Layer layer;
  EXPECT_THAT(
      [&] {
        update(layer, State{{{"kernel"}, Param(zeros({2, 3}, DType::float64))}});
      },
      ThrowsMessage<StateError>(AllOf(HasSubstr("kernel"), HasSubstr("float32"), HasSubstr("float64"))));
}

TEST(Update, RefusesAnUnknownPath) {
  Layer layer;
  EXPECT_THAT(
      [&] {
        update(layer, State{{{"extra"}, Param(ones({1}))}});
      },
      ThrowsMessage<StateError>(HasSubstr("Unexpected: extra")));
}

TEST(Update, IsAllOrNothing) {
  Layer layer;
  const State bad{{{"bias"}, Param(ones({3}))}, {{"kernel"}, Param(zeros({5, 7}))}};
  EXPECT_THROW(update(layer, bad), StateError);
  EXPECT_THROW(update(layer, State{{{"bias"}, Param(ones({3}))}}, State{{{"extra"}, Param(ones({1}))}}), StateError);
  EXPECT_TRUE(identical(layer.bias, zeros({3})));
}

TEST(Update, LaterStatesWin) {
  Layer layer;
  update(layer, State{{{"bias"}, Param(ones({3}))}}, State{{{"bias"}, Param(full({3}, 2.0F))}});
  EXPECT_TRUE(identical(layer.bias, full({3}, 2.0F)));
}

TEST(Update, KeepsTheIdentityAndKindOfVariablesAndTakesMetadata) {
  LanguageModel model;
  const auto before = model.encoder.embedding;
  update(model, State{{{"decoder", "kernel"}, BatchStat(ones({3, 2}), tagged("new"))}});
  EXPECT_EQ(model.encoder.embedding, before);
  EXPECT_EQ(&before->kind(), &kind_of<Param>());
  EXPECT_EQ(*before->tag(), "new");
  EXPECT_TRUE(identical(*before, ones({3, 2})));
}

TEST(Update, ByTheModulesOwnStateChangesNothing) {
  Classifier model = classifier();
  const State before = state(model);
  update(model, state(model));
  EXPECT_EQ(state(model), before);
}

TEST(Update, ByAnEmptyStateChangesNothing) {
  Layer layer;
  update(layer, State());
  EXPECT_TRUE(identical(layer.bias, zeros({3})));
}

TEST(Clone, IsIndependent) {
  Classifier model = classifier();
  Classifier copy = clone(model);
  const State before = state(model);
  (void)copy(ones({5, 4}));  // moves running statistics and counts of draws
  copy.head.kernel.set_value(zeros({8, 3}));
  EXPECT_EQ(state(model), before);
}

// ---------------------------------------------------------------- properties

struct Node {
  std::vector<Node> list;
  std::map<std::string, Node> named;
  std::optional<Param> some;
  std::variant<int, BatchStat> either;
  std::unique_ptr<Node> owned;
  std::shared_ptr<Node> shared;
  std::string name;
  STRATA_FIELDS(list, named, some, either, owned, shared, name)
};

void grow(Node& node, int depth, std::vector<std::shared_ptr<Node>>& pool) {
  const auto flip = [] { return *rc::gen::arbitrary<bool>(); };
  node.name = *rc::gen::element<std::string>("x", "y");
  if (flip()) node.some = Param(scalar(*rc::gen::inRange(0, 100)));
  if (flip()) node.either = BatchStat(scalar(*rc::gen::inRange(0, 100)));
  if (depth == 0) return;
  if (flip()) node.list.resize(2);
  for (Node& child : node.list) grow(child, depth - 1, pool);
  if (flip()) grow(node.named["1"], depth - 1, pool);
  if (flip()) grow(*(node.owned = std::make_unique<Node>()), depth - 1, pool);
  if (flip() && !pool.empty()) {
    node.shared = pool[*rc::gen::inRange<std::size_t>(0, pool.size())];  // tied, or a cycle
  } else if (flip()) {
    node.shared = std::make_shared<Node>();
    pool.push_back(node.shared);
    grow(*node.shared, depth - 1, pool);
  }
}

RC_GTEST_PROP(SplitMergeProperty, MergeAfterSplitIsTheIdentity, ()) {
  auto root = std::make_shared<Node>();
  std::vector<std::shared_ptr<Node>> pool{root};
  grow(*root, 3, pool);
  const auto [graph, params, others] = split(root, of_type<Param>, rest);
  std::shared_ptr<Node> merged = merge(graph, others, params);
  RC_ASSERT(state(merged) == state(root));
  RC_ASSERT(graph_def(merged) == graph);
  RC_ASSERT(graph_def(merged).hash() == graph.hash());
  for (std::shared_ptr<Node>* with_cycles : {&root, &merged}) {
    strata::internal::dismantle(strata::internal::node_of(*with_cycles));
  }
}

// A chain of modules with a variable at every level.
struct Step {
  std::unique_ptr<Step> next;
  Param weight{tensor({1.0F})};
  STRATA_FIELDS(next, weight)
};

void take_apart(Step& first) {
  while (first.next) {
    std::unique_ptr<Step> second = std::move(first.next);
    first.next = std::move(second->next);
  }
}

// The paths together have twenty billion keys; they share them.
TEST(Split, OfALongChainTakesMemoryInProportionToItsLength) {
  constexpr int length = 200000;
  Step first;
  Step* last = &first;
  for (int i = 0; i < length; ++i) {
    last->next = std::make_unique<Step>();
    last = last->next.get();
  }
  last->weight.reset(tensor({1.0F, 2.0F}));
  auto [graph, large, small] = split(first, of_size == 2, rest);
  EXPECT_EQ(large.size(), 1);
  EXPECT_EQ(small.size(), length);
  EXPECT_EQ(large.begin()->path.depth(), length + 1);
  update(first, large, small);
  Step merged = merge(graph, small, large);
  EXPECT_EQ(state(merged).size(), length + 1);
  take_apart(merged);
  take_apart(first);
}

}  // namespace
}  // namespace strata::nn
