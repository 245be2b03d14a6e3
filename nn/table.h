// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/nn/split.h"
#include "strata/state/state.h"

namespace strata::nn {

struct TableOptions {
  // An ordered split whose groups are counted: the first filter that takes a variable gets it. Variables that no filter
  // takes are no error.
  std::vector<Filter> filters = {};
};

// What a module or state holds, variable by variable and in sums. A shared variable counts once, at its first path.
struct Table {
  struct Row {
    Path path;
    Variable variable;
    std::optional<std::size_t> group;  // the filter that took it
  };

  struct Total {
    std::string name;
    Index variables = 0;
    Index elements = 0;
    std::size_t bytes = 0;
    bool operator==(const Total&) const = default;
  };

  std::vector<Row> rows;         // in the order of the paths
  std::vector<Total> kinds;      // of each kind that occurs, by name; a kind does not count those that specialise it
  std::vector<Total> groups;     // of each filter, named by its text
  Total unmatched{"no filter"};  // what no filter takes, if there are filters
  Total trainable{"trainable"};  // Param and the kinds that specialise it
  Total all{"all"};
};

// Throws FilterError if `rest` is followed by another filter.
[[nodiscard]] Table table(const State& state, const TableOptions& options = {});
template <class M>
[[nodiscard]] Table table(const M& module, const TableOptions& options = {}) {
  return table(state(module), options);
}

// "36 B", "1.5 KB", "2.0 GB": in units of 1000, with one decimal.
[[nodiscard]] std::string byte_text(std::size_t bytes);

// A line for each variable: path, kind, element type, shape, elements, bytes, metadata, group. Then the sums.
[[nodiscard]] std::string to_string(const Table& table);
std::ostream& operator<<(std::ostream& out, const Table& table);

}  // namespace strata::nn
