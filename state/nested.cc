// SPDX-License-Identifier: Apache-2.0
#include "strata/state/nested.h"

#include <algorithm>
#include <charconv>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/path_builder.h"
#include "strata/state/internal/path_lookup.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using internal::list_offenders;
using internal::shown;

// Calls f(path, node) for every node that is no map with members, in the order of the paths.
template <class F>
void for_each_end(const Nested& root, F f) {
  struct Place {
    Path path;
    const Nested* node;
  };
  internal::PathBuilder builder;
  std::vector<Place> pending{{Path(), &root}};
  while (!pending.empty()) {
    const Place place = std::move(pending.back());
    pending.pop_back();
    if (!place.node->is_map() || place.node->members().empty()) {
      f(place.path, *place.node);
      continue;
    }
    const Nested::Map& members = place.node->members();
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
      pending.push_back({builder.append(place.path, member->first), &member->second});
    }
  }
}

// Builds a map from paths in order.
class Grower {
 public:
  void put(const Path& path, Nested value) {
    // Nodes of the path before that this one shares are still open.
    open_.resize(static_cast<std::size_t>(path.depth()));
    std::size_t known = open_.size();
    for (const internal::PathNode* node = path.node(); known > 0 && open_[known - 1].key != node; node = node->parent) {
      open_[--known].key = node;
    }
    for (; known < open_.size(); ++known) {
      Nested& parent = known == 0 ? root_ : *open_[known - 1].node;
      open_[known].node = &parent.members().try_emplace(open_[known].key->key).first->second;
    }
    (open_.empty() ? root_ : *open_.back().node) = std::move(value);
  }

  Nested take() { return std::move(root_); }

 private:
  struct Open {
    const internal::PathNode* key = nullptr;
    Nested* node = nullptr;
  };

  Nested root_;
  std::vector<Open> open_;  // the nodes that lead to the last path
};

}  // namespace

Nested::Nested() : members_(std::make_unique<Map>()) {}
Nested::Nested(Tensor value) : value_(std::move(value)) {}
Nested::Nested(std::initializer_list<Member> members) : Nested() {
  for (const auto& [key, member] : members) members_->insert_or_assign(key, member);
}

Nested::Nested(const Nested& other) : value_(other.value_) {
  std::vector<std::pair<Nested*, const Nested*>> pending{{this, &other}};
  while (!pending.empty()) {
    const auto [to, from] = pending.back();
    pending.pop_back();
    if (from->members_ == nullptr) continue;
    to->members_ = std::make_unique<Map>();
    for (const auto& [key, member] : *from->members_) {
      Nested& copy = to->members_->try_emplace(to->members_->end(), key, member.value_)->second;
      pending.emplace_back(&copy, &member);
    }
  }
}

Nested::Nested(Nested&& other) noexcept = default;

Nested& Nested::operator=(Nested other) noexcept {
  std::swap(value_, other.value_);
  members_.swap(other.members_);
  return *this;
}

Nested::~Nested() {
  std::vector<std::unique_ptr<Map>> pending;
  const auto put_off = [&pending](std::unique_ptr<Map>& map) {
    if (map != nullptr && !map->empty()) pending.push_back(std::move(map));
  };
  put_off(members_);
  while (!pending.empty()) {
    const std::unique_ptr<Map> map = std::move(pending.back());
    pending.pop_back();
    for (auto& [key, member] : *map) put_off(member.members_);
  }
}

const Tensor& Nested::value() const {
  if (is_map()) throw StateError("[Nested::value] this is a map, not a tensor. Ask is_map first.");
  return value_;
}

const Nested::Map& Nested::members() const {
  if (!is_map()) {
    throw StateError("[Nested::members] this is a tensor (" + describe(value_) + "), not a map. Ask is_map first.");
  }
  return *members_;
}

Nested::Map& Nested::members() { return const_cast<Map&>(std::as_const(*this).members()); }

const Nested* Nested::find(const Key& key) const noexcept {
  if (!is_map()) return nullptr;
  const auto place = members_->find(key);
  return place == members_->end() ? nullptr : &place->second;
}

bool operator==(const Nested& a, const Nested& b) {
  std::vector<std::pair<const Nested*, const Nested*>> pending{{&a, &b}};
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    if (x->is_map() != y->is_map()) return false;
    if (!x->is_map()) {
      if (!identical(x->value_, y->value_)) return false;
      continue;
    }
    const bool same_keys =
        std::equal(x->members_->begin(), x->members_->end(), y->members_->begin(), y->members_->end(),
                   [](const auto& m, const auto& n) { return m.first == n.first; });
    if (!same_keys) return false;
    auto other = y->members_->begin();
    for (const auto& [key, member] : *x->members_) pending.emplace_back(&member, &(other++)->second);
  }
  return true;
}

Nested to_nested(const State& state) {
  Grower grower;
  for (const auto& [path, variable] : state) grower.put(path, variable.value());
  return grower.take();
}

State to_state(const Nested& values) {
  std::vector<State::Entry> entries;
  for_each_end(values, [&](const Path& path, const Nested& node) {
    if (!node.is_map()) entries.push_back({path, Variable(node.value())});
  });
  return internal::StateAccess::from_sorted(std::move(entries));
}

std::vector<FlatEntry> flatten(const Nested& values, FlattenOptions options) {
  if (!values.is_map()) {
    throw StateError("[flatten] the root is a tensor (" + describe(values.value()) + "). Give a map.");
  }
  std::vector<FlatEntry> entries;
  for_each_end(values, [&](const Path& path, const Nested& node) {
    if (!node.is_map()) {
      entries.push_back({path, node.value()});
    } else if (options.keep_empty && !path.empty()) {
      entries.push_back({path});
    }
  });
  return entries;
}

Nested unflatten(std::span<const FlatEntry> entries) {
  std::vector<State::Entry> checked;
  std::vector<Path> empty;
  checked.reserve(entries.size());
  for (const FlatEntry& entry : entries) {
    if (entry.path.empty()) throw StateError("[unflatten] there is an entry for the root. Give it a key.");
    checked.push_back({entry.path, Variable(entry.value.value_or(Tensor()))});
    if (!entry.value) empty.push_back(entry.path);
  }
  Nested result = to_nested(State(std::move(checked)));
  for (const Path& path : empty) {
    Nested* node = &result;
    for (const Key& key : path) node = &node->members().at(key);
    *node = Nested();
  }
  return result;
}

std::string join_keys(const Path& path, std::string_view separator) {
  const auto fail = [&](const std::string& what) {
    throw ValueError("[join_keys] " + shown(path) + " " + what + ", and would not be read back.");
  };
  if (separator.empty() || path.empty()) fail(path.empty() ? "has no keys" : "would be joined without a separator");
  std::string text;
  for (const Key& key : path) {
    if (key.is_integer()) fail("has the integer key " + to_string(key));
    if (key.text().find(separator) != std::string::npos) fail("has a key that holds '" + std::string(separator) + "'");
    text += key.text();
    text += separator;
  }
  text.resize(text.size() - separator.size());
  return text;
}

Path split_keys(std::string_view text, std::string_view separator) {
  if (separator.empty()) throw ValueError("[split_keys] the separator is empty.");
  std::vector<Key> keys;
  for (;;) {
    const std::size_t end = text.find(separator);
    keys.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return Path(keys);
    text.remove_prefix(end + separator.size());
  }
}

std::optional<Index> integer_reading(std::string_view text) noexcept {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Nested with_integer_keys(const Nested& values) {
  struct Place {
    Nested* to;
    const Nested* from;
    Path path;
  };
  Nested result = values.is_map() ? Nested() : values;
  internal::PathBuilder builder;
  std::vector<std::string> twice;
  std::vector<Place> pending{{&result, &values, Path()}};
  while (!pending.empty()) {
    const Place place = std::move(pending.back());
    pending.pop_back();
    if (!place.from->is_map()) continue;
    std::map<Key, const Key*> readings;
    for (const auto& [key, member] : place.from->members()) {
      const Key read = internal::read_key(key);
      const auto [first, is_new] = readings.emplace(read, &key);
      if (!is_new) twice.push_back(shown(place.path / *first->second) + " and " + shown(place.path / key));
      Nested& copy = place.to->members()[read];
      copy = member.is_map() ? Nested() : member;
      pending.push_back({&copy, &member, builder.append(place.path, key)});
    }
  }
  if (!twice.empty()) {
    throw StateError("[with_integer_keys] keys that stand for the same integer: " + list_offenders(twice) + ".");
  }
  return result;
}

void replace_values(State& state, const Nested& values) {
  std::vector<Path> given;
  std::vector<const Tensor*> tensors;
  for_each_end(values, [&](const Path& path, const Nested& node) {
    if (node.is_map()) return;
    given.push_back(path);
    tensors.push_back(&node.value());
  });
  std::vector<State::Entry>& entries = internal::StateAccess::entries_of(state);
  std::vector<Path> known;
  for (const State::Entry& entry : entries) known.push_back(entry.path);

  const auto found = internal::find_paths(given, known);
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> sources(entries.size(), none);
  internal::Offenders unknown;
  internal::Offenders twice;
  internal::Offenders different;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!found[i]) {
      unknown.add([&] { return shown(given[i]); });
      continue;
    }
    const Tensor& old = entries[found[i]->place].variable.value();
    if (old.shape() != tensors[i]->shape() || old.dtype() != tensors[i]->dtype()) {
      different.add(
          [&] { return shown(given[i]) + " (expected " + describe(old) + ", got " + describe(*tensors[i]) + ")"; });
    }
    std::size_t& source = sources[found[i]->place];
    if (source != none) twice.add([&] { return shown(given[source]) + " and " + shown(given[i]); });
    source = i;
  }
  const std::string parts =
      unknown.sentence("Unknown") + twice.sentence("Given more than once") + different.sentence("Different");
  if (!parts.empty()) {
    throw StateError("[replace_values] the values do not fit the state." + parts + " Nothing was changed.");
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (sources[i] != none) entries[i].variable.reset(*tensors[sources[i]]);
  }
}

}  // namespace strata
