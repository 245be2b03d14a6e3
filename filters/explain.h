// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/state.h"

namespace strata {

// Why an ordered split sorts the variables as it does.
struct Explanation {
  // The filter that came nearest to taking a variable that none takes: the one of which most parts hold.
  struct Nearest {
    std::size_t filter;
    Filter failed;  // the part of it that did not hold
  };

  // What became of one variable, in the order of the paths.
  struct Row {
    Path path;
    std::string variable;              // "Param float32[12, 64]"
    std::optional<std::size_t> group;  // the filter that took it
    std::optional<Filter> reason;      // the part of that filter that decided
    std::vector<std::size_t> also;     // later filters that would take it
    std::optional<Nearest> nearest;    // of a variable that no filter takes, if any part of a filter holds for it
  };

  // Why a filter took nothing.
  enum class Emptiness {
    none,        // it took something
    emptied,     // earlier filters took all that it would take
    unknown,     // a part that it needs holds for no variable at all: a kind or tag that occurs nowhere
    no_overlap,  // each of its parts holds somewhere, but never all that it needs
  };

  struct Group {
    Filter filter;
    Index variables = 0;
    Index elements = 0;
    Emptiness emptiness = Emptiness::none;
    std::vector<std::size_t> emptied_by;  // the earlier filters that took what it would take
    std::vector<Filter> unknown;          // named parts of it that hold for no variable of the state
    std::string suggestion;               // names that do occur and are spelt almost like those; may be empty

    // "names what no variable has: `tag('lroa')`. Did you mean `lora`?" Empty if there are no unknown parts.
    [[nodiscard]] std::string unknown_names() const;
  };

  std::vector<Row> rows;
  std::vector<Group> groups;

  [[nodiscard]] std::vector<Path> unmatched() const;

  // What probably was not meant, a sentence each: groups that are empty, and why; kinds, tags and paths that occur
  // nowhere, also in groups that are not empty; variables that no filter takes.
  [[nodiscard]] std::vector<std::string> warnings() const;
};

// Throws what split_groups throws for the order and number of filters. Variables that no filter takes are no error.
[[nodiscard]] Explanation explain(const State& state, std::span<const Filter> filters);

//   std::cout << explain(nn::state(model), of_type<Param>, of_type<BatchStat>, rest);
template <std::convertible_to<Filter>... F>
[[nodiscard]] Explanation explain(const State& state, const F&... filters) {
  const std::array<Filter, sizeof...(F)> all_filters{Filter(filters)...};
  return explain(state, std::span<const Filter>(all_filters));
}

// A table of the variables, a table of the groups, and the warnings.
[[nodiscard]] std::string to_string(const Explanation& explanation);
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace strata
