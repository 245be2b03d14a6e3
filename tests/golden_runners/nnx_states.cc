// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "golden_runners/nnx_cases.h"
#include "golden_runners/nnx_parse.h"
#include "strata/nn/split.h"
#include "strata/state/combine.h"
#include "strata/state/nested.h"
#include "strata/tensor/error.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;
using Module = std::shared_ptr<DynamicModule>;

Json flat_json(const State& state) {
  Json flat = Json::array();
  for (const auto& [path, variable] : state) {
    flat.push_back(Json::array({to_json(path), variable.value().item<std::int64_t>()}));
  }
  return flat;
}

void require_flat(const State& state, const Json& expected) {
  require(flat_json(state) == expected, "flat " + flat_json(state).dump() + ", expected " + expected.dump());
}

// {"m": [[key, node], ...]} or a number, flattened.
void flatten(const Json& node, const Path& path, std::vector<State::Entry>& entries) {
  if (!node.is_object()) {
    entries.push_back({path, Variable(scalar(node.get<double>()))});
    return;
  }
  for (const Json& member : node.at("m")) flatten(member.at(1), path / parse_key(member.at(0)), entries);
}

void run_sort(const Json& test) {
  std::vector<Path> paths;
  for (const Json& path : test.at("paths")) paths.push_back(parse_path(path));
  std::sort(paths.begin(), paths.end());
  if (test.at("expect").contains("error")) {
    // Flax cannot compare an integer with a text; here integers come first.
    const bool sorted = std::is_sorted(paths.begin(), paths.end(), [](const Path& a, const Path& b) {
      return a[a.depth() - 1].is_integer() && !b[b.depth() - 1].is_integer();
    });
    return require(test.at("expect").at("error") == "mixed_key_types" && sorted, "mixed keys");
  }
  Json order = Json::array();
  for (const Path& path : paths) order.push_back(to_json(path));
  require(order == test.at("expect").at("order"), "order " + order.dump());
}

void run_flat(const Json& test) {
  std::vector<State::Entry> entries;
  flatten(test.at("tree"), Path(), entries);
  require_flat(State(std::move(entries)), test.at("expect").at("flat"));
}

// Entries by their paths, where a bare array has no kind.
State parse_state(const Json& leaves, const Kinds& kinds) {
  std::vector<State::Entry> entries;
  for (const Json& leaf : leaves) {
    State::Entry entry = parse_leaf(leaf, kinds);
    if (leaf.at("type") == "Array") entry.variable = Variable(entry.variable.value());
    entries.push_back(std::move(entry));
  }
  return State(std::move(entries));
}

// True if a state has a path that the module lacks, another shape, or, for a merge, if a path is missing: Flax lets
// some of these pass, here all are errors.
bool must_be_refused(const State& module, const std::vector<State>& states, bool whole) {
  std::size_t found = 0;
  for (const State& state : states) {
    for (const auto& [path, variable] : state) {
      const Variable* field = module.find(path);
      if (field == nullptr || field->value().shape() != variable.value().shape()) return true;
      ++found;
    }
  }
  return whole && found != static_cast<std::size_t>(module.size());
}

void require_leaves(const State& state, const Json& expected) {
  Json actual = Json::array();
  for (const auto& [path, variable] : state) {
    const Shape& shape = variable.value().shape();
    actual.push_back(
        Json::array({to_json(path), variable.kind().name, std::vector<Index>(shape.begin(), shape.end())}));
  }
  require(actual == expected, "leaves " + actual.dump() + ", expected " + expected.dump());
}

State merge_all(const Module& module, const std::vector<State>& states) {
  return nn::state(nn::merge(nn::graph_def(module), merge(states)));
}

State update_all(const Module& module, const std::vector<State>& states) {
  for (const State& state : states) nn::update(*module, state);
  return nn::state(module);
}

void run_graph(const Json& test, const Kinds& kinds) {
  const bool whole = test.at("op") == "merge_graph";
  const State start = parse_state(test.at("module"), kinds);
  const Module module = build_module(start);
  std::vector<State> states;
  for (const Json& leaves : test.at("states")) states.push_back(parse_state(leaves, kinds));
  const bool refused_by_flax = test.at("expect").contains("error");
  try {
    const State result = whole ? merge_all(module, states) : update_all(module, states);
    require(!refused_by_flax, "no error, expected " + test.at("expect").dump());
    require_leaves(result, test.at("expect").at("leaves"));
  } catch (const StateError& error) {
    require(refused_by_flax || must_be_refused(start, states, whole), error.what());
    require(nn::state(module) == start, "the error left the module changed");
  }
}

// A nested map of numbers. Flax keeps the order of insertion, which plays no part here.
Nested parse_nested(const Json& node) {
  if (!node.is_object()) return Nested(scalar(node.get<double>()));
  Nested result;
  for (const Json& member : node.at("m")) result.members().emplace(parse_key(member.at(0)), parse_nested(member.at(1)));
  return result;
}

void require_tree(const Nested& actual, const Json& expected) {
  require(actual == parse_nested(expected),
          "tree " + flat_json(to_state(actual)).dump() + ", expected " + expected.dump());
}

// What may be refused: `run` throws exactly if an error is expected.
template <class F>
void run_or_refuse(const Json& expected, F run) {
  if (!expected.contains("error")) return run();
  try {
    run();
  } catch (const StateError&) {
    return;
  } catch (const ValueError&) {
    return;
  }
  throw support::Mismatch("no error, expected " + expected.dump());
}

std::vector<State> parse_states(const Json& trees) {
  std::vector<State> states;
  for (const Json& tree : trees) states.push_back(to_state(parse_nested(tree)));
  return states;
}

// One entry after the other, the later one wins.
void run_from_flat(const Json& test) {
  std::vector<State> entries;
  for (const Json& item : test.at("flat")) {
    entries.push_back(State{{parse_path(item.at(0)), Variable(scalar(item.at(1).get<double>()))}});
  }
  require_tree(to_nested(overlay(entries)), test.at("expect").value("tree", Json()));
}

void run_combine(const Json& test) {
  const std::vector<State> states = parse_states(test.at("states"));
  require_flat(test.at("op") == "diff" ? difference(states.at(0), states.at(1)) : overlay(states),
               test.at("expect").value("flat", Json()));
}

void run_replace(const Json& test) {
  State state = to_state(parse_nested(test.at("state")));
  replace_values(state, parse_nested(test.at("pure")));
  require_flat(state, test.at("expect").value("flat", Json()));
}

void run_flatten(const Json& test) {
  const FlattenOptions options{.keep_empty = test.value("keep_empty_nodes", false)};
  Json items = Json::array();
  for (const FlatEntry& entry : flatten(parse_nested(test.at("tree")), options)) {
    const Json path =
        test.contains("sep") ? Json(join_keys(entry.path, test.at("sep").get<std::string>())) : to_json(entry.path);
    items.push_back(Json::array({path, entry.value ? Json(entry.value->item<std::int64_t>()) : Json("<empty>")}));
  }
  Json expected = test.at("expect").value("items", Json());
  std::sort(items.begin(), items.end());
  std::sort(expected.begin(), expected.end());
  require(items == expected, "items " + items.dump());
}

void run_unflatten(const Json& test) {
  std::vector<FlatEntry> entries;
  for (const Json& item : test.at("items")) {
    const Path path = item.at(0).is_string()
                          ? split_keys(item.at(0).get<std::string>(), test.at("sep").get<std::string>())
                          : parse_path(item.at(0));
    entries.push_back({path});
    if (item.at(1).is_number()) entries.back().value = scalar(item.at(1).get<double>());
  }
  require_tree(unflatten(entries), test.at("expect").value("tree", Json()));
}

void run_restore(const Json& test) {
  require_tree(with_integer_keys(parse_nested(test.at("pure"))), test.at("expect").value("tree", Json()));
}

}  // namespace

void run_state_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Kinds kinds(support::load_json(dir / "filters.json").at("types"));
  const Json file = support::load_json(dir / "state_ops.json");
  for (const Json& test : file.at("cases")) {
    run.run("state_ops/" + test.at("name").get<std::string>(), [&] {
      const std::string op = test.at("op");
      if (op == "sort_paths") return run_sort(test);
      if (op == "to_flat_state") return run_flat(test);
      if (op == "merge_graph" || op == "update") return run_graph(test, kinds);
      static const std::map<std::string, void (*)(const Json&)> operations{
          {"from_flat_state", run_from_flat},    {"merge_state", run_combine},     {"diff", run_combine},
          {"replace_by_pure_dict", run_replace}, {"flatten_mapping", run_flatten}, {"unflatten_mapping", run_unflatten},
          {"restore_int_paths", run_restore}};
      const auto found = operations.find(op);
      if (found == operations.end()) throw support::Skip("operation " + op);
      run_or_refuse(test.at("expect"), [&] { found->second(test); });
    });
  }
}

}  // namespace strata::golden
