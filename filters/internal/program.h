// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "strata/filters/internal/filter_node.h"

namespace strata::internal {

// An ordered list of filters, made ready to be asked about many variables, best in the order of their paths.
//
// - For each kind that it meets, the filters are compiled with the answers to "is it a Param?" put in, so that whole
//   filters fall away: for a Param, `Param & path('encoder')` is the step path('encoder').
// - A step that several filters share is done once for each variable.
// - Whether a path has a key is remembered from one path to the next: keys that they share are not looked at again.
//
// Not for several threads at a time.
class Program {
 public:
  // The filters must outlive the program.
  explicit Program(std::span<const Filter> filters) : filters_(filters) {}

  // Which filter is the first to take the variable; the number of filters if none does.
  std::size_t first_match(const Path& path, const Variable& variable);

 private:
  using StepId = std::int32_t;

  enum class Action : std::uint8_t { test, find_key, find_like, negate, any, all };

  // Steps come after those that they use.
  struct Step {
    Action action;
    bool result = false;
    const FilterPart* part = nullptr;   // of those that look at the variable
    std::span<const StepId> uses = {};  // of those that look at other steps
    std::uint64_t done = 0;             // the number of the variable that `result` is about
    Path above = {};                    // of find_*: the path above the last one that was looked at
    bool found_above = false;           // whether a key of it fits
  };

  // What is left to do for variables of one kind: the steps that decide, one for each filter, up to the first filter
  // that takes all.
  struct ForKind {
    const Kind* kind;
    std::vector<StepId> steps;
  };

  // The answers that need no step.
  static constexpr StepId no = -1;
  static constexpr StepId yes = -2;

  const ForKind& for_kind(const Kind& kind);
  StepId compile(const Filter& filter);
  StepId compile_composite(const Filter& filter);
  StepId compile_part(const Filter& filter);
  StepId compile_list(const Filter& filter, Action action);
  StepId add(Step step);

  bool answer(StepId id, const Path& path, const Variable& variable);
  bool decide(Step& step, const Path& path, const Variable& variable);
  template <class Part>
  static bool find(Step& step, const Part& part, const Path& path);

  std::span<const Filter> filters_;
  std::vector<ForKind> kinds_;
  std::size_t last_kind_ = 0;
  std::vector<Step> steps_;
  std::vector<std::vector<StepId>> lists_;
  std::unordered_map<Filter, StepId> parts_;  // of all kinds

  // While one kind is compiled.
  const Kind* kind_ = nullptr;
  std::unordered_map<const FilterNode*, StepId> compiled_;

  std::uint64_t variable_ = 0;  // the number of the variable, from 1
};

}  // namespace strata::internal
