// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/program.h"

#include <algorithm>

#include "strata/filters/internal/part_test.h"

namespace strata::internal {
namespace {

// Quicker than ==, which compares the texts of integers too.
bool is_same(const Key& a, const Key& b) {
  if (a.is_integer() || b.is_integer()) return a.is_integer() && b.is_integer() && a.integer() == b.integer();
  return a.text() == b.text();
}

// It takes less time to compile a small filter again than to remember it.
bool is_small(const Filter& filter) {
  constexpr double few_parts = 16;
  return filter.node().size <= few_parts;
}

}  // namespace

std::size_t Program::first_match(const Path& path, const Variable& variable) {
  const ForKind& left = for_kind(variable.kind());
  ++variable_;
  if (finds_keys_) compare_with_previous(path.keys());
  for (std::size_t i = 0; i < left.steps.size(); ++i) {
    if (answer(left.steps[i], path, variable)) return i;
  }
  return filters_.size();
}

const Program::ForKind& Program::for_kind(const Kind& kind) {
  if (last_kind_ < kinds_.size() && kinds_[last_kind_].kind == &kind) return kinds_[last_kind_];
  for (last_kind_ = 0; last_kind_ < kinds_.size(); ++last_kind_) {
    if (kinds_[last_kind_].kind == &kind) return kinds_[last_kind_];
  }
  kind_ = &kind;
  compiled_.clear();
  ForKind result{&kind, {}};
  for (const Filter& filter : filters_) {
    result.steps.push_back(compile(filter));
    if (result.steps.back() == yes) break;
  }
  kinds_.push_back(std::move(result));
  return kinds_.back();
}

Program::StepId Program::compile(const Filter& filter) {
  const FilterPart& part = filter.node().part;
  if (const auto* of_kind = std::get_if<OfKind>(&part)) return kind_->is_a(*of_kind->kind) ? yes : no;
  if (std::holds_alternative<Rest>(part) || std::holds_alternative<Everything>(part)) return yes;
  if (std::holds_alternative<Nothing>(part)) return no;
  if (is_small(filter)) return compile_composite(filter);
  if (const auto known = compiled_.find(&filter.node()); known != compiled_.end()) return known->second;
  const StepId step = compile_composite(filter);
  compiled_.emplace(&filter.node(), step);
  return step;
}

Program::StepId Program::compile_composite(const Filter& filter) {
  if (get_part<Any>(filter) != nullptr) return compile_list(filter, Action::any);
  if (get_part<All>(filter) != nullptr) return compile_list(filter, Action::all);
  const auto* negated = get_part<Not>(filter);
  if (negated == nullptr) return compile_part(filter);
  const StepId inner = compile(negated->filter);
  if (inner == yes || inner == no) return inner == yes ? no : yes;
  lists_.push_back({inner});
  return add({.action = Action::negate, .uses = lists_.back()});
}

Program::StepId Program::compile_part(const Filter& filter) {
  const auto [place, is_new] = parts_.emplace(filter, no);
  if (is_new) {
    const FilterPart& part = filter.node().part;
    Action action = Action::test;
    if (std::holds_alternative<PathContains>(part)) action = Action::find_key;
    if (std::holds_alternative<PathLike>(part)) action = Action::find_like;
    if (action != Action::test && !finds_keys_) {
      finds_keys_ = true;
      keys_ = {};
    }
    place->second = add({.action = action, .part = &part});
  }
  return place->second;
}

// An alternative ends at the first part that always holds, a conjunction at the first that never does.
Program::StepId Program::compile_list(const Filter& filter, Action action) {
  const StepId neutral = action == Action::any ? no : yes;
  const StepId absorbing = action == Action::any ? yes : no;
  std::vector<StepId> uses;
  for (const Filter& child : children(filter)) {
    const StepId step = compile(child);
    if (step == absorbing) return absorbing;
    if (step != neutral) uses.push_back(step);
  }
  if (uses.empty()) return neutral;
  if (uses.size() == 1) return uses.front();
  lists_.push_back(std::move(uses));
  return add({.action = action, .uses = lists_.back()});
}

Program::StepId Program::add(Step step) {
  steps_.push_back(step);
  return static_cast<StepId>(steps_.size() - 1);
}

bool Program::answer(StepId id, const Path& path, const Variable& variable) {
  if (id < 0) return id == yes;
  Step& step = steps_[static_cast<std::size_t>(id)];
  if (step.done != variable_) {
    step.result = decide(step, path, variable);
    step.done = variable_;
  }
  return step.result;
}

bool Program::decide(Step& step, const Path& path, const Variable& variable) {
  const auto holds = [&](StepId id) { return answer(id, path, variable); };
  switch (step.action) {
    case Action::test:
      return takes(*step.part, path, variable);
    case Action::find_key:
      return find(step, *std::get_if<PathContains>(step.part));
    case Action::find_like:
      return find(step, *std::get_if<PathLike>(step.part));
    case Action::negate:
      return !holds(step.uses.front());
    case Action::any:
      return std::any_of(step.uses.begin(), step.uses.end(), holds);
    case Action::all:
      break;
  }
  return std::all_of(step.uses.begin(), step.uses.end(), holds);
}

// `step.done` still is the variable before this one that the step was done for: the keys up to the depth that has not
// changed since then were looked at then.
template <class Part>
bool Program::find(Step& step, const Part& part) const {
  const auto is_as_then = [&](std::size_t depth) { return changed_[depth] <= step.done; };
  const bool found_then = step.found != none;
  if (found_then && step.found < keys_.size() && is_as_then(step.found)) return true;
  // Deeper keys were not looked at if one was found.
  const std::size_t looked_until = found_then ? std::min(step.found, keys_.size()) : keys_.size();
  std::size_t depth = 0;
  while (depth < looked_until && is_as_then(depth)) ++depth;
  while (depth < keys_.size() && !fits(part, keys_[depth])) ++depth;
  step.found = depth < keys_.size() ? depth : none;
  return step.found != none;
}

void Program::compare_with_previous(std::span<const Key> keys) {
  const std::size_t common = std::min(keys.size(), keys_.size());
  std::size_t depth = 0;
  while (depth < common && is_same(keys[depth], keys_[depth])) ++depth;
  if (changed_.size() < keys.size()) changed_.resize(keys.size());
  std::fill(changed_.begin() + static_cast<std::ptrdiff_t>(depth), changed_.end(), variable_);
  keys_ = keys;
}

}  // namespace strata::internal
