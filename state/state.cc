// SPDX-License-Identifier: Apache-2.0
#include "strata/state/state.h"

#include <algorithm>
#include <ostream>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/path_comparer.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

bool by_path(const State::Entry& a, const State::Entry& b) { return a.path < b.path; }

[[noreturn]] void throw_conflict(const Path& above, const Path& below) {
  throw StateError("[State] a path cannot hold a variable and lead to others: " + internal::shown(above) + " and " +
                   internal::shown(below) + ".");
}

// In a sorted list the continuations of a path stand right behind it.
void check_tree(const std::vector<State::Entry>& sorted) {
  std::vector<std::string> twice;
  std::vector<std::string> conflicts;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Path& before = sorted[i - 1].path;
    const Path& path = sorted[i].path;
    if (path == before) {
      twice.push_back(internal::shown(path));
    } else if (path.starts_with(before)) {
      conflicts.push_back(internal::shown(before) + " and " + internal::shown(path));
    }
  }
  if (!twice.empty()) {
    throw StateError("[State] paths given more than once: " + internal::list_offenders(twice) + ".");
  }
  if (!conflicts.empty()) {
    throw StateError(
        "[State] a path cannot hold a variable and lead to others: " + internal::list_offenders(conflicts) + ".");
  }
}

}  // namespace

State::State(std::initializer_list<Entry> entries) : State(std::vector<Entry>(entries)) {}

State::State(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_path)) {
    std::stable_sort(entries_.begin(), entries_.end(), by_path);
  }
  check_tree(entries_);
}

std::vector<State::Entry>::const_iterator State::lower_bound(const Path& path) const noexcept {
  return std::lower_bound(entries_.begin(), entries_.end(), path,
                          [](const Entry& entry, const Path& wanted) { return entry.path < wanted; });
}

const Variable* State::find(const Path& path) const& noexcept {
  const auto place = lower_bound(path);
  return place != entries_.end() && place->path == path ? &place->variable : nullptr;
}

Variable* State::find(const Path& path) & noexcept { return const_cast<Variable*>(std::as_const(*this).find(path)); }

const Variable& State::at(const Path& path) const& {
  const Variable* variable = find(path);
  if (variable == nullptr) {
    std::vector<std::string> paths;
    for (const Entry& entry : entries_) paths.push_back(internal::shown(entry.path));
    throw StateError("[State::at] there is no variable at \"" + internal::shown(path) +
                     "\". There are: " + (paths.empty() ? "none" : internal::list_offenders(paths)) + ".");
  }
  return *variable;
}

Variable& State::at(const Path& path) & { return const_cast<Variable&>(std::as_const(*this).at(path)); }

void State::check_neighbours(std::vector<Entry>::const_iterator place, const Path& path) const {
  if (place != entries_.end() && place->path.starts_with(path)) throw_conflict(path, place->path);
  if (place != entries_.begin() && path.starts_with(std::prev(place)->path))
    throw_conflict(std::prev(place)->path, path);
}

void State::set(const Path& path, Variable variable) {
  const auto place = lower_bound(path);
  if (place != entries_.end() && place->path == path) {
    entries_[static_cast<std::size_t>(place - entries_.begin())].variable = std::move(variable);
    return;
  }
  check_neighbours(place, path);
  entries_.insert(place, {path, std::move(variable)});
}

bool State::erase(const Path& path) {
  const auto place = lower_bound(path);
  if (place == entries_.end() || place->path != path) return false;
  entries_.erase(place);
  return true;
}

Index State::num_elements() const noexcept {
  Index count = 0;
  for (const Entry& entry : entries_) count += entry.variable.value().size();
  return count;
}

std::size_t State::num_bytes() const noexcept {
  std::size_t count = 0;
  for (const Entry& entry : entries_) count += entry.variable.value().num_bytes();
  return count;
}

bool operator==(const State& a, const State& b) {
  internal::PathComparer compare;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const State::Entry& x, const State::Entry& y) {
    return compare(x.path, y.path) == 0 && x.variable == y.variable;
  });
}

std::string to_string(const State& state) {
  std::string text;
  for (const auto& [path, variable] : state) {
    text += internal::shown(path) + "  " + describe(variable);
    if (!variable.metadata().empty()) text += "  " + to_string(variable.metadata());
    text += '\n';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const State& state) { return out << to_string(state); }

}  // namespace strata
