// SPDX-License-Identifier: Apache-2.0
#include "strata/state/graph_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "strata/state/internal/quote.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/internal/hash.h"

namespace strata::internal {
namespace {

// One thing that a walk met, told by its depth and last key: together with the order of the records this gives the
// whole path.
struct Record {
  int depth;
  KeyView key;  // of the module that is walked through
  Node node;    // empty for a variable
  const Variable* variable;
  Index number;  // of the object that a shared_ptr points to; -1 for an empty place
};

class RecordCollector final : public WalkHandler {
 public:
  void variable(const Trail& trail, Variable& variable, Node) override { add(trail, {}, &variable, 0); }
  void group(const Trail& trail, Node node) override { add(trail, node, nullptr, 0); }
  void value(const Trail& trail, Node node) override { add(trail, node, nullptr, 0); }
  void holder(const Trail& trail, Node place, Node target) override {
    add(trail, place, nullptr, target.object == nullptr ? -1 : 0);
  }
  void shared(const Trail& trail, Node place, Node, Index number, bool) override { add(trail, place, nullptr, number); }

  std::vector<Record> records;

 private:
  void add(const Trail& trail, Node node, const Variable* variable, Index number) {
    records.push_back({trail.depth(), trail.empty() ? KeyView{} : trail.back(), node, variable, number});
  }
};

std::vector<Record> records_of(Node root) {
  RecordCollector collector;
  walk(root, collector);
  return std::move(collector.records);
}

bool equal_records(const Record& a, const Record& b) {
  if (a.depth != b.depth || !(a.key == b.key) || a.node.type != b.node.type || a.number != b.number) return false;
  if (a.variable != nullptr)
    return &a.variable->kind() == &b.variable->kind() && a.variable->metadata() == b.variable->metadata();
  return a.node.type->role != Role::value || a.node.type->equal(a.node.object, b.node.object);
}

std::string record_text(const Record& record) {
  if (record.variable != nullptr) {
    const std::string metadata = to_string(record.variable->metadata());
    return escape(record.variable->kind().name) + (metadata.empty() ? "" : " (" + metadata + ")");
  }
  const NodeType& type = *record.node.type;
  if (type.role == Role::value) return escape(type.text(record.node.object));
  std::string text(type.name);
  if (type.role == Role::shared) text += " #" + std::to_string(record.number);
  if (record.number < 0) text += " (empty)";
  return text;
}

}  // namespace

namespace {

template <class T>
std::string text_of_real(T value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);
}

}  // namespace

std::string real_text(float value) { return text_of_real(value); }
std::string real_text(double value) { return text_of_real(value); }
std::string real_text(long double value) { return text_of_real(value); }

bool equal_graphs(Node a, Node b) {
  const std::vector<Record> left = records_of(a);
  const std::vector<Record> right = records_of(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), equal_records);
}

std::size_t hash_graph(Node root) {
  std::size_t hash = 0;
  for (const Record& record : records_of(root)) {
    hash = mix_hash(hash, static_cast<std::size_t>(record.depth));
    hash = mix_hash(hash, std::hash<std::string_view>{}(record.key.text));
    hash = mix_hash(hash, static_cast<std::size_t>(record.key.integer));
    hash = mix_hash(hash, static_cast<std::size_t>(record.number));
    if (record.variable != nullptr) {
      hash = mix_hash(hash, std::hash<const void*>{}(&record.variable->kind()));
      for (const auto& [name, value] : record.variable->metadata().values()) {
        hash = mix_hash(hash, std::hash<std::string>{}(name));
        hash = mix_hash(hash, std::hash<MetadataValue>{}(value));
      }
    } else if (record.node.type->role == Role::value) {
      hash = mix_hash(hash, record.node.type->hash(record.node.object));
    }
  }
  return hash;
}

std::string graph_text(Node root) {
  std::string text;
  for (const Record& record : records_of(root)) {
    if (record.node.type != nullptr && record.node.type->role == Role::holder && record.number == 0) continue;
    // Deeper lines are not indented further: the text of a chain would grow as the square of its length.
    constexpr int deepest_indentation = 64;
    if (record.depth > deepest_indentation) text += fmt::format("({}) ", record.depth);
    text.append(2 * static_cast<std::size_t>(std::min(record.depth, deepest_indentation)), ' ');
    if (record.depth != 0) text += to_string(record.key) + ": ";
    text += record_text(record) + '\n';
  }
  return text;
}

}  // namespace strata::internal
