// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/state_axes.h"

#include <ostream>
#include <utility>

#include "strata/filters/explain.h"
#include "strata/filters/internal/program.h"
#include "strata/filters/split.h"
#include "strata/state/internal/listing.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

std::vector<Filter> filters_of(const std::vector<StateAxes::Entry>& entries) {
  std::vector<Filter> filters;
  for (const StateAxes::Entry& entry : entries) filters.push_back(entry.filter);
  return filters;
}

}  // namespace

StateAxes::StateAxes(int axis) : StateAxes({{rest, axis}}) {}

StateAxes::StateAxes(std::initializer_list<Entry> entries) : StateAxes(std::vector<Entry>(entries)) {}

StateAxes::StateAxes(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (entries_.empty()) throw ValueError("[StateAxes] there is no entry. Give at least one filter and its axis.");
  strata::internal::check_placement(filters_of(entries_));
}

std::vector<MemberAxis> StateAxes::axes_of(const State& state) const {
  const std::vector<Filter> filters = filters_of(entries_);
  strata::internal::Program program(filters);
  std::vector<MemberAxis> axes;
  std::vector<std::string> offenders;
  for (const auto& [path, variable] : state) {
    const std::size_t taker = program.first_match(path, variable);
    if (taker == filters.size()) {
      offenders.push_back(to_string(path) + " (" + describe(variable) + ")");
    } else {
      axes.push_back(entries_[taker].axis);
    }
  }
  if (!offenders.empty()) {
    throw StateError("[StateAxes] no filter takes " + strata::internal::list_offenders(offenders) +
                     ". Give {strata::rest, axis} as the last entry.");
  }
  return axes;
}

Explanation explain(const State& state, const StateAxes& axes) {
  return strata::explain(state, filters_of(axes.entries()));
}

std::string to_string(const StateAxes& axes) {
  std::string text = "StateAxes({";
  for (const StateAxes::Entry& entry : axes.entries()) {
    if (text.back() != '{') text += ", ";
    text += to_string(entry.filter) + ": " + (entry.axis ? std::to_string(*entry.axis) : "shared");
  }
  return text + "})";
}

std::ostream& operator<<(std::ostream& out, const StateAxes& axes) { return out << to_string(axes); }

}  // namespace strata::nn
