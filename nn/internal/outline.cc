// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/outline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "strata/nn/internal/columns.h"
#include "strata/nn/internal/short_type.h"
#include "strata/state/internal/walk.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;
using strata::internal::PathNode;
using strata::internal::Trail;

void set_variable(OutlineRow& row, const Variable& variable) {
  row.variable = variable;
  row.elements = variable.value().size();
  row.bytes = variable.value().num_bytes();
}

class RowCollector final : public strata::internal::WalkHandler {
 public:
  void group(const Trail& trail, Node node) override { add(trail).type = short_type(node.type->name); }
  void variable(const Trail& trail, Variable& variable, Node) override { set_variable(add(trail), variable); }
  void shared(const Trail& trail, Node, Node, Index number, bool first) override {
    if (first) {
      first_path_[number] = trail.path();
    } else {
      add(trail).same_as = first_path_[number];
    }
  }

  std::vector<OutlineRow> rows;

 private:
  OutlineRow& add(const Trail& trail) {
    OutlineRow& row = rows.emplace_back();
    row.depth = static_cast<std::size_t>(trail.depth());
    if (!trail.empty()) row.key = trail.back();
    return row;
  }

  std::map<Index, Path> first_path_;
};

// Gives every row what all rows below it have. Seen from the last row up, the rows of the next depth since the last row
// of this depth are the children.
void add_up(std::vector<OutlineRow>& rows) {
  std::vector<std::pair<Index, std::size_t>> of_children;
  for (std::size_t i = rows.size(); i-- > 0;) {
    OutlineRow& row = rows[i];
    of_children.resize(std::max(of_children.size(), row.depth + 2));
    const auto [elements, bytes] = std::exchange(of_children[row.depth + 1], {0, 0});
    row.elements += elements;
    row.bytes += bytes;
    of_children[row.depth].first += row.elements;
    of_children[row.depth].second += row.bytes;
  }
}

// How many keys both paths begin with.
int common_depth(const Path& a, const Path& b) {
  int depth = std::min(a.depth(), b.depth());
  const PathNode* left = strata::internal::ancestor(a.node(), depth);
  const PathNode* right = strata::internal::ancestor(b.node(), depth);
  for (int at = depth; left != right; --at, left = left->parent, right = right->parent) {
    if (left->key != right->key) depth = at - 1;
  }
  return depth;
}

// A row for each key of the path behind the first `known`.
void add_rows(std::vector<OutlineRow>& rows, const Path& path, int known) {
  const std::size_t first = rows.size();
  rows.resize(first + static_cast<std::size_t>(path.depth() - known));
  const PathNode* node = path.node();
  for (std::size_t i = rows.size(); i-- > first; node = node->parent) {
    rows[i].depth = static_cast<std::size_t>(node->depth);
    rows[i].key = node->key;
  }
}

}  // namespace

std::string describe(const OutlineRow& row) {
  if (row.same_as) return "the same as " + (row.same_as->empty() ? "the root" : short_text(*row.same_as));
  if (!row.variable) return row.type;
  const std::string metadata = to_string(row.variable->metadata());
  return strata::describe(*row.variable) + (metadata.empty() ? "" : "  " + shortened(metadata));
}

std::vector<OutlineRow> outline(Node root) {
  RowCollector collector;
  strata::internal::walk(root, collector);
  add_up(collector.rows);
  return std::move(collector.rows);
}

std::vector<OutlineRow> outline(const State& state) {
  std::vector<OutlineRow> rows(1);
  rows.front().type = "State";
  Path before;
  for (const auto& [path, variable] : state) {
    if (!path.empty()) add_rows(rows, path, common_depth(before, path));
    set_variable(rows.back(), variable);
    before = path;
  }
  add_up(rows);
  return rows;
}

}  // namespace strata::nn::internal
