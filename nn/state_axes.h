// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/state.h"

namespace strata {

struct Explanation;

}  // namespace strata

namespace strata::nn {

// The place of the member axis in a stacked variable, or `shared`: one variable for all members.
using MemberAxis = std::optional<int>;
inline constexpr MemberAxis shared = std::nullopt;

// Along which axis each variable of several alike modules is stacked. The first filter that takes a variable decides;
// negative axes count from the end of the stacked variable.
//
//   StateAxes axes{{of_type<BatchStat>, nn::shared}, {rest, 0}};
//
// A value: compared by its filters and axes in order, printed as `StateAxes({BatchStat: shared, rest: 0})`.
class StateAxes {
 public:
  struct Entry {
    Filter filter;
    MemberAxis axis;
    bool operator==(const Entry&) const = default;
  };

  // All variables along one axis.
  StateAxes(int axis);

  // Throws ValueError if there is no entry, FilterError if `rest` is not at the end.
  StateAxes(std::initializer_list<Entry> entries);
  explicit StateAxes(std::vector<Entry> entries);

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

  // The axis of each variable of a state, in its order. Throws StateError that lists the variables that no filter
  // takes.
  [[nodiscard]] std::vector<MemberAxis> axes_of(const State& state) const;

  bool operator==(const StateAxes&) const = default;

 private:
  std::vector<Entry> entries_;
};

// Which entry decides for each variable of a state, as an ordered split by their filters (filters/explain.h). Its
// warnings name entries that take nothing because of earlier ones or of a misspelt name.
[[nodiscard]] Explanation explain(const State& state, const StateAxes& axes);

std::string to_string(const StateAxes& axes);
std::ostream& operator<<(std::ostream& out, const StateAxes& axes);

}  // namespace strata::nn
