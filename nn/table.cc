// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <ostream>

#include "strata/filters/internal/program.h"
#include "strata/nn/internal/columns.h"
#include "strata/state/internal/quote.h"

namespace strata::nn {
namespace {

using internal::Align;
using internal::Columns;

void add(Table::Total& total, const Tensor& value) {
  ++total.variables;
  total.elements += value.size();
  total.bytes += value.num_bytes();
}

// Kinds of one name are told apart, though they look alike.
std::vector<Table::Total> kind_totals(const State& state) {
  std::map<std::pair<std::string_view, const Kind*>, Table::Total> totals;
  for (const auto& [path, variable] : state) {
    const Kind& kind = variable.kind();
    Table::Total& total = totals[{kind.name, &kind}];
    total.name = kind.name;
    add(total, variable.value());
  }
  std::vector<Table::Total> result;
  for (auto& [kind, total] : totals) result.push_back(std::move(total));
  return result;
}

void sort_into_groups(Table& table, std::span<const Filter> filters) {
  if (filters.empty()) return;
  strata::internal::check_placement(filters);
  for (const Filter& filter : filters) table.groups.push_back({to_string(filter)});
  strata::internal::Program program(filters);
  for (Table::Row& row : table.rows) {
    const std::size_t group = program.first_match(row.path, row.variable);
    if (group < filters.size()) row.group = group;
    add(row.group ? table.groups[group] : table.unmatched, row.variable.value());
  }
}

std::string variables_text(const Table& table) {
  Columns columns(
      {Align::left, Align::left, Align::left, Align::left, Align::right, Align::right, Align::left, Align::left});
  const bool has_groups = !table.groups.empty();
  columns.add({"path", "kind", "dtype", "shape", "elements", "bytes", has_groups ? "group" : "", "metadata"});
  for (const Table::Row& row : table.rows) {
    const Tensor& value = row.variable.value();
    const std::string group = row.group ? std::to_string(*row.group) : has_groups ? "-" : "";
    columns.add({internal::short_text(row.path),
                 internal::shortened(strata::internal::escape(row.variable.kind().name)),
                 std::string(name(value.dtype())), to_string(value.shape()), std::to_string(value.size()),
                 byte_text(value.num_bytes()), group, internal::shortened(to_string(row.variable.metadata()))});
  }
  return columns.text();
}

void add_total(Columns& columns, const std::string& label, const Table::Total& total) {
  columns.add({label, std::to_string(total.variables), std::to_string(total.elements), byte_text(total.bytes)});
}

std::string totals_text(const Table& table) {
  Columns columns({Align::left, Align::right, Align::right, Align::right});
  columns.add({"total of", "variables", "elements", "bytes"});
  const auto label = [](const Table::Total& total) {
    return internal::shortened(strata::internal::escape(total.name));
  };
  for (const Table::Total& total : table.kinds) add_total(columns, label(total), total);
  for (std::size_t i = 0; i < table.groups.size(); ++i) {
    add_total(columns, "group " + std::to_string(i) + ": " + label(table.groups[i]), table.groups[i]);
  }
  if (table.unmatched.variables > 0) add_total(columns, table.unmatched.name, table.unmatched);
  add_total(columns, "trainable", table.trainable);
  add_total(columns, "all", table.all);
  return columns.text();
}

}  // namespace

Table table(const State& state, const TableOptions& options) {
  Table result;
  result.rows.reserve(static_cast<std::size_t>(state.size()));
  for (const auto& [path, variable] : state) {
    result.rows.push_back({path, variable, std::nullopt});
    add(result.all, variable.value());
    if (variable.kind().is_a(kind_of<Param>())) add(result.trainable, variable.value());
  }
  result.kinds = kind_totals(state);
  sort_into_groups(result, options.filters);
  return result;
}

std::string byte_text(std::size_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  constexpr std::array units{"KB", "MB", "GB"};
  constexpr double next_unit = 999.95;  // what one decimal would round up to 1000.0
  for (; unit + 1 < units.size() && amount >= next_unit; ++unit) amount /= 1000;
  return fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string to_string(const Table& table) { return variables_text(table) + "\n" + totals_text(table); }

std::ostream& operator<<(std::ostream& out, const Table& table) { return out << to_string(table); }

}  // namespace strata::nn
