// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/program.h"

#include <algorithm>

#include "strata/filters/internal/part_match.h"

namespace strata::internal {
namespace {

// It takes less time to compile a small filter again than to remember it.
bool is_small(const Filter& filter) {
  constexpr double few_parts = 16;
  return filter.node().size <= few_parts;
}

}  // namespace

std::size_t Program::first_match(const Path& path, const Variable& variable) {
  const ForKind& left = for_kind(variable.kind());
  ++variable_;
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
      return find(step, *std::get_if<PathContains>(step.part), path);
    case Action::find_like:
      return find(step, *std::get_if<PathLike>(step.part), path);
    case Action::negate:
      return !holds(step.uses.front());
    case Action::any:
      return std::any_of(step.uses.begin(), step.uses.end(), holds);
    case Action::all:
      break;
  }
  return std::all_of(step.uses.begin(), step.uses.end(), holds);
}

// Keys are looked at from the last one up, to where the path joins the one that was looked at before.
template <class Part>
bool Program::find(Step& step, const Part& part, const Path& path) {
  if (path.empty()) return false;
  const PathNode* const above = path.node()->parent;
  if (above != step.above.node()) {
    const PathNode* node = above;
    while (node != nullptr && node != step.above.node() && !fits(part, node->key)) node = node->parent;
    const bool joins = node != nullptr && node == step.above.node();
    step.found_above = joins ? step.found_above : node != nullptr;
    step.above = path.prefix(path.depth() - 1);
  }
  return step.found_above || fits(part, path.back());
}

}  // namespace strata::internal
