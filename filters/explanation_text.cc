// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "strata/filters/explain.h"
#include "strata/filters/internal/print.h"
#include "strata/filters/internal/takes_nothing.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/utf8.h"

namespace strata {
namespace {

using internal::quote;

// Rows of cells, each column as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : widths_(head.size()) { add(std::move(head)); }

  void add(std::vector<std::string> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], width(cells[i]));
    rows_.push_back(std::move(cells));
  }

  [[nodiscard]] std::string text() const {
    std::string result;
    for (const std::vector<std::string>& cells : rows_) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        line += cells[i] + std::string(widths_[i] - width(cells[i]) + 2, ' ');
      }
      result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

 private:
  static std::size_t width(const std::string& cell) { return internal::to_characters(cell).size(); }

  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

std::string short_text(const Filter& filter) { return internal::print(filter, 60); }

std::string numbers(const std::vector<std::size_t>& list) {
  std::string text;
  for (const std::size_t number : list) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

std::string filters(const std::vector<Filter>& list) {
  std::vector<std::string> texts;
  for (const Filter& filter : list) texts.push_back(quote(filter));
  return internal::list_offenders(texts);
}

std::string why(const Explanation::Row& row) {
  if (row.reason) return short_text(*row.reason);
  if (!row.nearest) return "no part of any filter holds";
  return "nearest is " + std::to_string(row.nearest->filter) + ", which fails by " + short_text(row.nearest->failed);
}

std::string why(const Explanation::Group& group) {
  switch (group.emptiness) {
    case Explanation::Emptiness::none:
      return "";
    case Explanation::Emptiness::emptied:
      return "emptied by " + numbers(group.emptied_by);
    case Explanation::Emptiness::unknown:
      return "nothing is " + filters(group.unknown);
    case Explanation::Emptiness::no_overlap:
      break;
  }
  return "takes no variable of this state";
}

std::string plural(Index count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string Explanation::Group::unknown_names() const {
  if (unknown.empty()) return {};
  const std::string text = "names what no variable has: " + filters(unknown) + ". " + suggestion;
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string> Explanation::warnings() const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (group.filter.is_rest()) continue;  // a catch-all with nothing left to catch is as good as one with something
    const std::string name = "Filter " + std::to_string(i) + ", " + quote(group.filter) + ", ";
    if (group.emptiness == Emptiness::emptied) {
      result.push_back(name + "gets nothing: all that it takes goes to filter " + numbers(group.emptied_by) +
                       " before it.");
    } else if (group.emptiness == Emptiness::no_overlap) {
      result.push_back(name + "takes no variable of this state.");
    }
    if (!group.unknown.empty() && !rows.empty()) {
      result.push_back(name + group.unknown_names());
    }
  }
  std::vector<std::string> left;
  for (const Path& path : unmatched()) left.push_back(to_string(path));
  if (!left.empty()) {
    result.push_back("No filter takes " + internal::list_offenders(left) + ".");
  }
  return result;
}

std::string to_string(const Explanation& explanation) {
  Table variables({"path", "variable", "group", "because of", "also wanted by"});
  for (const Explanation::Row& row : explanation.rows) {
    variables.add(
        {to_string(row.path), row.variable, row.group ? std::to_string(*row.group) : "-", why(row), numbers(row.also)});
  }
  Table groups({"group", "filter", "variables", "elements", ""});
  for (std::size_t i = 0; i < explanation.groups.size(); ++i) {
    const Explanation::Group& group = explanation.groups[i];
    groups.add({std::to_string(i), short_text(group.filter), std::to_string(group.variables),
                std::to_string(group.elements), why(group)});
  }
  std::string text = variables.text() + "\n" + groups.text();
  const std::vector<std::string> warnings = explanation.warnings();
  if (!warnings.empty()) text += "\n" + plural(static_cast<Index>(warnings.size()), "warning") + "\n";
  for (const std::string& warning : warnings) text += "- " + warning + "\n";
  return text;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << to_string(explanation); }

std::string internal::takes_nothing(const State& state, const Filter& filter) {
  const std::string names = explain(state, filter).groups.front().unknown_names();
  return "the filter " + quote(filter) + " takes none of the module's " + std::to_string(state.size()) + " variables." +
         (names.empty() ? "" : " It " + names);
}

}  // namespace strata
