// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_parse.h"

#include <set>

#include "strata/filters/parse.h"
#include "strata/state/kind_registry.h"
#include "strata/tensor/create.h"
#include "support/golden_runner.h"

namespace strata::golden {
namespace {

using support::Json;

std::vector<Filter> parse_filters(const Json& filters, const Kinds& kinds) {
  std::vector<Filter> result;
  for (const Json& filter : filters) result.push_back(parse_filter(filter, kinds));
  return result;
}

Filter parse_predicate(const Json& filter) {
  const std::string name = filter.at("name");
  const Json arg = filter.at("arg");
  if (name == "depth_is") return [arg](const Path& path, const Variable&) { return path.depth() == arg.get<int>(); };
  if (name == "constant") return [arg](const Path&, const Variable&) { return arg.get<bool>(); };
  if (name == "ndim_is") {
    return [arg](const Path&, const Variable& variable) { return variable.value().rank() == arg.get<int>(); };
  }
  if (name == "size_at_least") {
    return [arg](const Path&, const Variable& variable) { return variable.value().size() >= arg.get<Index>(); };
  }
  if (name == "first_key_is") {
    return [key = parse_key(arg)](const Path& path, const Variable&) { return !path.empty() && path[0] == key; };
  }
  if (name == "last_key_is") {
    return [key = parse_key(arg)](const Path& path, const Variable&) {
      return !path.empty() && path[path.depth() - 1] == key;
    };
  }
  throw support::Skip("predicate " + name);
}

// The kinds of things that are no filters. In C++ their types are none; a text that spells one is refused when it is
// read.
[[noreturn]] void refuse(const std::string& kind) {
  static_assert(!FilterLike<int> && !FilterLike<double> && !FilterLike<bool>);
  static_assert(!FilterLike<std::string> && !FilterLike<std::vector<std::byte>>);
  static_assert(!FilterLike<std::map<std::string, Filter>> && !FilterLike<std::set<std::string>>);
  const std::map<std::string, const char*> texts{{"int", "7"},
                                                 {"zero", "0"},
                                                 {"one", "1"},
                                                 {"negative", "-1"},
                                                 {"float", "1.5"},
                                                 {"complex", "1j"},
                                                 {"nan", "nan"},
                                                 {"bytes", "b'x'"},
                                                 {"mapping", "{'a': Param}"},
                                                 {"set", "{'a'}"},
                                                 {"bool", "np.True_"},
                                                 {"np_bool", "np.True_"},
                                                 {"numpy_bool", "np.True_"},
                                                 {"array", "array(1)"},
                                                 {"object", "<object object>"}};
  const auto text = texts.find(kind);
  if (text == texts.end()) throw support::Skip("invalid filter " + kind);
  try {
    static_cast<void>(strata::parse_filter(text->second));
  } catch (const FilterError&) {
    throw InvalidFilter();
  }
  throw support::Mismatch(std::string("was read as a filter: ") + text->second);
}

bool is_empty(const DynamicChild& child) {
  return std::visit([](const auto& pointer) { return pointer == nullptr; }, child);
}

Filter parse_path_contains(const Json& filter) {
  const Key key = parse_key(filter.at("key"));
  if (filter.at("exact").get<bool>()) return path_contains(key);
  return path_like(key.is_integer() ? std::to_string(key.integer()) : key.text());
}

}  // namespace

Key parse_key(const Json& key) {
  if (key.is_number_integer()) return Key(key.get<Index>());
  if (key.is_string()) return Key(key.get<std::string>());
  throw support::Skip("key that is neither text nor integer");
}

Path parse_path(const Json& path) {
  std::vector<Key> keys;
  for (const Json& key : path) keys.push_back(parse_key(key));
  return Path(std::move(keys));
}

Json to_json(const Path& path) {
  Json list = Json::array();
  for (const Key& key : path) {
    if (key.is_integer()) {
      list.push_back(key.integer());
    } else {
      list.push_back(key.text());
    }
  }
  return list;
}

// A type is listed after its base.
Kinds::Kinds(const Json& types) {
  for (const auto& [name, base] : types.items()) {
    const Kind* known = find_kind(name);
    if (known == nullptr) {
      const Kind* base_kind = base.is_null() ? nullptr : kinds_.at(base.get<std::string>());
      const auto place = kinds_.emplace(name, nullptr).first;
      own_.push_back(std::make_unique<Kind>(place->first, base_kind));
      known = own_.back().get();
    }
    kinds_[name] = known;
  }
}

State::Entry parse_leaf(const Json& leaf, const Kinds& kinds) {
  const Metadata metadata = leaf.contains("tag") ? tagged(leaf.at("tag").get<std::string>()) : Metadata();
  return {parse_path(leaf.at("path")),
          Variable(kinds.at(leaf.at("type")), zeros(support::shape_from(leaf.at("shape"))), metadata)};
}

State parse_leaves(const Json& leaves, const Kinds& kinds) {
  std::vector<State::Entry> entries;
  for (const Json& leaf : leaves) entries.push_back(parse_leaf(leaf, kinds));
  return State(std::move(entries));
}

Filter parse_filter(const Json& filter, const Kinds& kinds) {
  const std::string op = filter.at("op");
  if (op == "ellipsis" || op == "true") return rest;
  if (op == "everything") return everything;
  if (op == "false" || op == "none" || op == "nothing") return nothing;
  if (op == "type" || op == "of_type") return of_kind(kinds.at(filter.at("name")));
  if (op == "str") return with_tag(filter.at("value"));
  if (op == "with_tag") return with_tag(filter.at("tag"));
  if (op == "path_contains") return parse_path_contains(filter);
  if (op == "predicate") return parse_predicate(filter);
  if (op == "any" || op == "list" || op == "tuple") return any(parse_filters(filter.at("of"), kinds));
  if (op == "all") return all(parse_filters(filter.at("of"), kinds));
  if (op == "not") return !parse_filter(filter.at("of"), kinds);
  if (op == "path_in") {
    std::vector<Path> paths;
    for (const Json& path : filter.at("paths")) paths.push_back(parse_path(path));
    return path_in(std::move(paths));
  }
  if (op == "invalid") refuse(filter.at("kind"));
  throw support::Skip("filter " + op);
}

std::shared_ptr<DynamicModule> build_module(const State& state) {
  auto root = std::make_shared<DynamicModule>();
  for (const auto& [path, variable] : state) {
    DynamicChild parent = root;
    for (int depth = 0; depth < path.depth(); ++depth) {
      DynamicChild made = std::make_shared<Variable>(variable);
      if (depth + 1 < path.depth()) {
        made = path[depth + 1].is_integer() ? DynamicChild(std::make_shared<DynamicList>())
                                            : DynamicChild(std::make_shared<DynamicModule>());
      }
      const Key& key = path[depth];
      if (key.is_integer()) {
        auto& items = std::get<std::shared_ptr<DynamicList>>(parent)->items;
        const auto place = static_cast<std::size_t>(key.integer());
        if (place >= items.size()) items.resize(place + 1);  // a gap is a place that holds nothing
        if (is_empty(items[place])) items[place] = made;
        parent = items[place];
      } else {
        parent = std::get<std::shared_ptr<DynamicModule>>(parent)->members.emplace(key.text(), made).first->second;
      }
    }
  }
  return root;
}

}  // namespace strata::golden
