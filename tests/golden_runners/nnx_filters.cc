// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_cases.h"
#include "golden_runners/nnx_parse.h"
#include "strata/filters/split.h"
#include "strata/nn/pop.h"
#include "strata/nn/split.h"
#include "strata/tensor/error.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;

void run_filter(const Json& test, const State& tree, const Kinds& kinds) {
  const Filter filter = parse_filter(test.at("filter"), kinds);
  Json taken = Json::array();
  for (const auto& [path, variable] : tree) taken.push_back(filter(path, variable));
  require(taken == test.at("expect"), "takes " + taken.dump() + ", expected " + test.at("expect").dump());
}

void run_equality(const Json& test, const Kinds& kinds) {
  const Filter a = parse_filter(test.at("a"), kinds);
  const Filter b = parse_filter(test.at("b"), kinds);
  // Flax has one object for `...` and Everything(); ours differ, since only one of them may stand anywhere in a split.
  const auto is_literal_and_object = [&](const Filter& f, const Filter& g) { return f == rest && g == everything; };
  const bool differs_by_design = is_literal_and_object(a, b) || is_literal_and_object(b, a);
  const bool equal = a == b || differs_by_design;
  require(equal == test.at("equal").get<bool>(), equal ? "the filters are equal" : "the filters differ");
  if (a == b) require(a.hash() == b.hash(), "equal filters hash differently");
}

// The groups; after those of a pop, what remains in the module.
std::vector<State> run_split(const std::string& api, const State& tree, const std::vector<Filter>& filters) {
  if (api == "pop") {
    const auto module = build_module(tree);
    std::vector<State> groups = nn::internal::pop(internal::node_of(*module), filters);
    groups.push_back(nn::state(*module));
    return groups;
  }
  if (api == "split_state") return split_groups(tree, filters, Leftover::error);
  if (api == "filter_state") return split_groups(tree, filters, Leftover::drop);
  const State state = nn::state(build_module(tree));
  if (filters.empty()) return {state};
  return split_groups(state, filters, api == "split" ? Leftover::error : Leftover::drop);
}

void require_groups(const std::vector<State>& groups, const Json& expected) {
  Json actual = Json::array();
  for (const State& group : groups) {
    Json paths = Json::array();
    for (const auto& [path, variable] : group) paths.push_back(to_json(path));
    actual.push_back(std::move(paths));
  }
  require(actual == expected, "groups " + actual.dump() + ", expected " + expected.dump());
}

// Where Flax looks at the order of filters before it converts them, C++ has converted them: both mistakes are refused.
std::string error_of(const Json& test, const State& tree, const Kinds& kinds) {
  try {
    std::vector<Filter> filters;
    for (const Json& filter : test.at("filters")) filters.push_back(parse_filter(filter, kinds));
    static_cast<void>(run_split(test.at("api"), tree, filters));
  } catch (const InvalidFilter&) {
    return "invalid_filter";
  } catch (const FilterError& error) {
    return std::string("filter_order ") + error.what();
  } catch (const StateError& error) {
    return std::string("non_exhaustive ") + error.what();
  } catch (const ValueError&) {
    return "no_filter";
  }
  return "none";
}

void require_error(const Json& test, const State& tree, const Kinds& kinds) {
  const Json& expected = test.at("expect");
  const std::string kind = expected.at("error");
  const std::string error = error_of(test, tree, kinds);
  const bool also_invalid = test.at("name") == "order-is-checked-before-conversion" && error == "invalid_filter";
  require(error.starts_with(kind) || also_invalid, "error " + error + ", expected " + kind);
  if (also_invalid) return;
  if (expected.contains("index")) {
    const std::string index = "filter " + std::to_string(expected.at("index").get<int>()) + " ";
    require(error.find(index) != std::string::npos, error + " does not name " + index);
  }
  if (expected.contains("leftover")) {
    for (const Json& path : expected.at("leftover")) {
      const std::string text = to_string(parse_path(path));
      const bool abbreviated = expected.at("leftover").size() > 10;
      require(abbreviated || error.find(text) != std::string::npos, error + " does not name " + text);
    }
  }
}

}  // namespace

void run_filter_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json file = support::load_json(dir / "filters.json");
  const Kinds kinds(file.at("types"));
  std::map<std::string, State> trees;
  for (const auto& [name, leaves] : file.at("trees").items()) trees.emplace(name, parse_leaves(leaves, kinds));
  for (const Json& test : file.at("cases")) {
    run.run("filters/" + test.at("name").get<std::string>(),
            [&] { run_filter(test, trees.at(test.at("tree")), kinds); });
  }
  for (const Json& test : file.at("equality")) {
    run.run("equality/" + test.at("name").get<std::string>(), [&] { run_equality(test, kinds); });
  }
  for (const Json& test : file.at("invalid")) {
    run.run("invalid/" + test.at("name").get<std::string>(), [&] {
      try {
        static_cast<void>(parse_filter(test.at("filter"), kinds));
      } catch (const InvalidFilter&) {
        return;
      }
      require(false, "was accepted");
    });
  }
  const Json splits = support::load_json(dir / "splits.json");
  for (const Json& test : splits.at("cases")) {
    run.run("splits/" + test.at("name").get<std::string>(), [&] {
      const State& tree = trees.at(test.at("tree"));
      if (test.at("expect").contains("error")) return require_error(test, tree, kinds);
      std::vector<Filter> filters;
      for (const Json& filter : test.at("filters")) filters.push_back(parse_filter(filter, kinds));
      Json expected = test.at("expect").at("groups");
      if (test.at("api") == "pop") expected.push_back(test.at("expect").at("remaining"));
      require_groups(run_split(test.at("api"), tree, filters), expected);
    });
  }
}

}  // namespace strata::golden
