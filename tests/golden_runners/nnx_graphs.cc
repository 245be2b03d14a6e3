// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_cases.h"
#include "golden_runners/nnx_parse.h"
#include "strata/nn/graph.h"
#include "strata/nn/split.h"
#include "strata/state/internal/clone.h"
#include "strata/tensor/create.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;

// The objects of a case, which may refer to each other in any direction. Cycles are taken down at the end.
class Objects {
 public:
  Objects(const Json& test, const Kinds& kinds) {
    for (const Json& object : test.at("objects")) objects_.emplace(object.at("id").get<int>(), make(object, kinds));
    for (const Json& object : test.at("objects")) connect(object);
    root_ = objects_.at(test.at("root").get<int>());
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects() {
    objects_.clear();
    internal::dismantle(internal::node_of(root_));
  }

  [[nodiscard]] const DynamicChild& root() const { return root_; }

  // The number of the object that a node is.
  [[nodiscard]] int id_of(const nn::GraphNode& node) const {
    for (const auto& [id, object] : objects_) {
      const void* address = std::visit([](const auto& pointer) -> const void* { return pointer.get(); }, object);
      if (address == node.get_if<Variable>() || address == node.get_if<DynamicModule>() ||
          address == node.get_if<DynamicList>()) {
        return id;
      }
    }
    throw support::Mismatch("a node that is no object: " + to_string(node.path()));
  }

 private:
  // A variable's value is its number, by which it is known later.
  static DynamicChild make(const Json& object, const Kinds& kinds) {
    if (object.at("kind") == "module") return std::make_shared<DynamicModule>();
    if (object.at("kind") == "list") return std::make_shared<DynamicList>();
    return std::make_shared<Variable>(kinds.at(object.at("type")),
                                      full(support::shape_from(object.at("shape")), object.at("id").get<int>()));
  }

  void connect(const Json& object) {
    const DynamicChild& child = objects_.at(object.at("id").get<int>());
    if (object.at("kind") == "module") {
      auto& members = std::get<std::shared_ptr<DynamicModule>>(child)->members;
      for (const Json& attr : object.at("attrs")) members.emplace(attr.at(0), objects_.at(attr.at(1).get<int>()));
    } else if (object.at("kind") == "list") {
      auto& items = std::get<std::shared_ptr<DynamicList>>(child)->items;
      for (const Json& item : object.at("items")) items.push_back(objects_.at(item.get<int>()));
    }
  }

  std::map<int, DynamicChild> objects_;
  DynamicChild root_;
};

void require_state(const DynamicChild& root, const Json& expected, const std::string& what) {
  Json actual = Json::array();
  for (const auto& [path, variable] : nn::state(root)) {
    actual.push_back(Json::array({to_json(path), static_cast<int>(variable.value().data<float>()[0])}));
  }
  require(actual == expected, what + ": state " + actual.dump() + ", expected " + expected.dump());
}

void run_graph(const Json& test, const Kinds& kinds) {
  const Objects objects(test, kinds);
  const Json& expected = test.at("expect").at("state");
  require_state(objects.root(), expected, "the module");
  require(nn::state(objects.root()).size() == test.at("expect").at("num_leaves").get<Index>(), "number of leaves");
  const auto [graph, state] = nn::split(objects.root());
  DynamicChild merged = nn::merge(graph, state);
  require_state(merged, expected, "after split and merge");
  require(nn::graph_def(merged) == graph, "the sharing changed in split and merge");
  internal::dismantle(internal::node_of(merged));
}

void require_equal(const Json& actual, const Json& expected) {
  require(actual == expected, "got " + actual.dump() + ", expected " + expected.dump());
}

Json nodes_json(const std::vector<nn::GraphNode>& nodes, const Objects& objects) {
  Json list = Json::array();
  for (const nn::GraphNode& node : nodes) list.push_back(Json::array({to_json(node.path()), objects.id_of(node)}));
  return list;
}

Json children_json(const std::vector<nn::GraphNode>& nodes, const Objects& objects) {
  Json list = nodes_json(nodes, objects);
  for (Json& child : list) child[0] = Json(child[0][0]);
  return list;
}

Json duplicates_json(const DynamicChild& root, const nn::NodeFilter& only) {
  Json list = Json::array();
  for (const std::vector<Path>& paths : nn::find_duplicates(root, only)) {
    list.push_back(Json::array());
    for (const Path& path : paths) list.back().push_back(to_json(path));
  }
  return list;
}

void run_list(const std::string& name, const Json& test, const Kinds& kinds) {
  const Objects objects(test, kinds);
  const DynamicChild& root = objects.root();
  const Json& expected = test.at("expect").at(name);
  if (name == "iter_graph") return require_equal(nodes_json(nn::nodes(root), objects), expected);
  if (name == "iter_modules") return require_equal(nodes_json(nn::modules(root), objects), expected);
  if (name == "iter_children") return require_equal(children_json(nn::children(root), objects), expected);
  const Filter only = test.contains("only") ? parse_filter(test.at("only"), kinds) : Filter(everything);
  require_equal(duplicates_json(root, only), expected);
}

}  // namespace

void run_graph_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Kinds kinds(support::load_json(dir / "filters.json").at("types"));
  const Json file = support::load_json(dir / "graphs.json");
  for (const Json& test : file.at("cases")) {
    const std::string name = "graphs/" + test.at("name").get<std::string>();
    run.run(name + "/state", [&] { run_graph(test, kinds); });
    for (const char* list : {"iter_graph", "iter_modules", "iter_children", "find_duplicates"}) {
      run.run(name + "/" + list, [&] { run_list(list, test, kinds); });
    }
  }
}

}  // namespace strata::golden
