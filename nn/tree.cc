// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "strata/state/internal/walk.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;
using strata::internal::Trail;

struct Line {
  std::size_t depth;
  std::string key;
  std::string what;
  Index elements;  // of the variable, or of all variables below
};

// Namespaces of std and of Strata tell a reader nothing here.
std::string short_type(std::string_view type) {
  std::string text(type);
  for (const std::string_view prefix : {"std::__cxx11::", "std::", "strata::recurrent::", "strata::nn::", "strata::"}) {
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      text.erase(at, prefix.size());
    }
  }
  return text;
}

class LineCollector final : public strata::internal::WalkHandler {
 public:
  void group(const Trail& trail, Node node) override { add(trail, short_type(node.type->name), 0); }

  void variable(const Trail& trail, Variable& variable, Node) override {
    const std::string metadata = to_string(variable.metadata());
    add(trail, describe(variable) + (metadata.empty() ? "" : "  " + metadata), variable.value().size());
  }

  void shared(const Trail& trail, Node, Node, Index number, bool first) override {
    if (first) {
      first_path_[number] = to_string(trail.path());
    } else {
      add(trail, "the same as " + (number == 0 ? "the root" : first_path_[number]), 0);
    }
  }

  std::vector<Line> lines;

 private:
  void add(const Trail& trail, std::string what, Index elements) {
    lines.push_back({static_cast<std::size_t>(trail.depth()), trail.empty() ? "" : to_string(trail.back()),
                     std::move(what), elements});
  }

  std::map<Index, std::string> first_path_;
};

// Gives every line the elements of all lines below it. Seen from the last line up, the lines of the next depth since
// the last line of this depth are the children.
void add_up(std::vector<Line>& lines) {
  std::vector<Index> of_children;
  for (std::size_t i = lines.size(); i-- > 0;) {
    Line& line = lines[i];
    of_children.resize(std::max(of_children.size(), line.depth + 2), 0);
    line.elements += std::exchange(of_children[line.depth + 1], 0);
    of_children[line.depth] += line.elements;
  }
}

// The strokes before each line. Seen from the last line up, a level is open while a later line of that depth is to
// come.
std::vector<std::string> strokes(const std::vector<Line>& lines) {
  std::vector<std::string> result(lines.size());
  std::vector<bool> open;
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::size_t depth = lines[i].depth;
    open.resize(depth + 1, false);
    for (std::size_t level = 1; level < depth; ++level) result[i] += open[level] ? "│  " : "   ";
    if (depth > 0) result[i] += open[depth] ? "├─ " : "└─ ";
    open[depth] = true;
  }
  return result;
}

}  // namespace

std::string tree_text(Node root) {
  LineCollector collector;
  strata::internal::walk(root, collector);
  const std::vector<Line>& lines = collector.lines;
  add_up(collector.lines);
  const std::vector<std::string> before = strokes(lines);
  std::size_t key_width = 0;
  std::size_t what_width = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    key_width = std::max(key_width, 3 * lines[i].depth + lines[i].key.size());
    what_width = std::max(what_width, lines[i].what.size());
  }
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t used = 3 * lines[i].depth + lines[i].key.size();
    text += fmt::format("{}{}{}  {:<{}}  {:>9}\n", before[i], lines[i].key, std::string(key_width - used, ' '),
                        lines[i].what, what_width, lines[i].elements);
  }
  return text;
}

}  // namespace strata::nn::internal
