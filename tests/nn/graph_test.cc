// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/nn/dropout.h"
#include "strata/nn/linear.h"
#include "strata/state/internal/clone.h"
#include "strata/tensor/create.h"

namespace strata::nn {
namespace {

using testing::ElementsAre;

struct Net {
  std::vector<Linear> layers;
  std::optional<Param> scale = Param(scalar(1.0F));
  std::shared_ptr<Linear> tied;
  std::shared_ptr<Linear> again;
  int width = 4;
  STRATA_FIELDS(layers, scale, tied, again, width)
};

Net net() {
  Rngs rngs(0);
  Net module;
  module.layers.emplace_back(2, 2, rngs);
  module.tied = module.again = std::make_shared<Linear>(2, 2, rngs, LinearOptions{.use_bias = false});
  return module;
}

std::vector<std::string> texts(const std::vector<GraphNode>& nodes) {
  std::vector<std::string> result;
  for (const GraphNode& node : nodes) result.push_back(to_string(node.path()));
  return result;
}

struct Link {
  std::optional<Param> weight;
  std::unique_ptr<Link> next;
  STRATA_FIELDS(weight, next)
};

TEST(Nodes, ChildrenComeBeforeTheirParentsAndEachObjectOnce) {
  const Net module = net();
  EXPECT_THAT(texts(nodes(module)), ElementsAre("again/kernel", "again", "layers/0/bias", "layers/0/kernel", "layers/0",
                                                "layers", "scale", ""));
  EXPECT_THAT(texts(modules(module)), ElementsAre("again", "layers/0", "layers", ""));
}

TEST(Nodes, KnowTheirObjects) {
  const Net module = net();
  const std::vector<GraphNode> list = nodes(module);
  EXPECT_EQ(list[4].get_if<Linear>(), &module.layers[0]);
  EXPECT_EQ(list[4].get_if<Dropout>(), nullptr);
  EXPECT_EQ(list[6].get_if<Variable>(), &*module.scale);
  EXPECT_EQ(list[6].type(), "Param");
  EXPECT_TRUE(list[6].is_variable());
  EXPECT_FALSE(list[4].is_variable());
}

TEST(Children, AreOneLevelDownWithDuplicates) {
  const Net module = net();
  const std::vector<GraphNode> list = children(module);
  EXPECT_THAT(texts(list), ElementsAre("again", "layers", "scale", "tied"));
  EXPECT_TRUE(list[0].is_same_object(list[3]));
  EXPECT_FALSE(list[0].is_same_object(list[1]));
}

TEST(FindDuplicates, GroupsThePathsOfOneObject) {
  const Net module = net();
  EXPECT_THAT(find_duplicates(module), ElementsAre(ElementsAre(Path{"again"}, Path{"tied"})));
  EXPECT_TRUE(find_duplicates(module, of_module<Dropout>).empty());
  EXPECT_EQ(find_duplicates(module, of_module<Linear> && path_contains("tied")).size(), 1U);
  EXPECT_TRUE(find_duplicates(module, of_type<Variable>).empty());
}

TEST(NodeFilter, CombinesFiltersTypesAndPredicates) {
  const Net module = net();
  const auto count = [&](const NodeFilter& filter) {
    const std::vector<GraphNode> list = nodes(module);
    return std::count_if(list.begin(), list.end(), filter);
  };
  EXPECT_EQ(count(everything), 8);
  EXPECT_EQ(count(of_type<Param>), 4);
  EXPECT_EQ(count(of_module<Linear>), 2);
  EXPECT_EQ(count(of_module<Linear> && path_contains("layers")), 1);
  EXPECT_EQ(count(path_contains("layers") && of_module<Linear>), 1);
  EXPECT_EQ(count(of_module<Linear> || of_type<Param>), 6);
  EXPECT_EQ(count(!of_module<Linear>), 6);
  EXPECT_EQ(count([](const GraphNode& node) { return node.path().depth() == 1; }), 3);
}

TEST(Nodes, OfAChainOfAHundredThousandModules) {
  constexpr int depth = 100000;
  auto root = std::make_unique<Link>();
  Link* last = root.get();
  for (int i = 0; i < depth; ++i) {
    last->next = std::make_unique<Link>();
    last = last->next.get();
  }
  last->weight = Param(scalar(1.0F));
  const std::vector<GraphNode> list = nodes(*root);
  ASSERT_EQ(list.size(), static_cast<std::size_t>(depth) + 2);
  EXPECT_EQ(list.front().path().depth(), depth + 1);
  EXPECT_EQ(list.front().type(), "Param");
  EXPECT_TRUE(list.back().path().empty());
  EXPECT_TRUE(find_duplicates(*root).empty());
  strata::internal::dismantle(strata::internal::node_of(*root));
}

}  // namespace
}  // namespace strata::nn
