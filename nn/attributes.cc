// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/attributes.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "strata/state/internal/leaves.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;
using strata::internal::NodeType;
using strata::internal::Trail;

// The value as a T, if it is one.
template <class T>
std::optional<T> converted(const MetadataValue& value) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
    const T* same = std::get_if<T>(&value);
    return same == nullptr ? std::nullopt : std::optional<T>(*same);
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (const double* number = std::get_if<double>(&value)) return static_cast<T>(*number);
    }
    const Index* integer = std::get_if<Index>(&value);
    if (integer == nullptr) return std::nullopt;
    if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(*integer)) return std::nullopt;
    }
    return static_cast<T>(*integer);
  }
}

// Sets the object to the value, or only tells whether that is possible.
using Setter = bool (*)(void* object, const MetadataValue& value, bool change);

template <class Field, class T>
bool set_field(void* object, const MetadataValue& value, bool change) {
  std::optional<T> fitting = converted<T>(value);
  if (fitting && change) *static_cast<Field*>(object) = *std::move(fitting);
  return fitting.has_value();
}

template <class... T>
std::map<const NodeType*, Setter> make_setters() {
  std::map<const NodeType*, Setter> setters;
  (setters.emplace(&strata::internal::node_type<T>(), &set_field<T, T>), ...);
  (setters.emplace(&strata::internal::node_type<std::optional<T>>(), &set_field<std::optional<T>, T>), ...);
  return setters;
}

Setter setter_of(const NodeType* type) {
  static const std::map<const NodeType*, Setter> setters =
      make_setters<bool, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long, float, double, std::string>();
  const auto found = setters.find(type);
  return found == setters.end() ? nullptr : found->second;
}

class FieldFinder final : public strata::internal::WalkHandler {
 public:
  FieldFinder(const std::vector<Attribute>& attributes, const NodeFilter& only, OtherType other_type)
      : attributes_(attributes), found_(attributes.size()), only_(only), other_type_(other_type) {}

  void group(const Trail& trail, Node node) override {
    groups_.resize(static_cast<std::size_t>(trail.depth()));
    groups_.push_back({node, std::nullopt});
  }

  void value(const Trail& trail, Node node) override {
    if (trail.empty()) return;
    for (std::size_t i = 0; i < attributes_.size(); ++i) {
      if (trail.back() != strata::internal::KeyView(attributes_[i].name) || !is_chosen(trail)) continue;
      const Setter set = setter_of(node.type);
      if (set != nullptr && set(node.object, attributes_[i].value, false)) {
        found_[i] = true;
        assignments_.push_back({node.object, set, &attributes_[i].value});
      } else if (other_type_ == OtherType::error) {
        found_[i] = true;
        unfit_.push_back(strata::internal::shown(trail.path()) + " (" + std::string(node.type->name) + " set to " +
                         to_string(Metadata{{std::string(attributes_[i].name), attributes_[i].value}}) + ")");
      }
    }
  }

  Index finish(Absent absent) const {
    if (!unfit_.empty()) {
      throw DTypeError("[set_attributes] values that their fields cannot hold: " +
                       strata::internal::list_offenders(unfit_) + ". Nothing was changed.");
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!found_[i]) missing.emplace_back(attributes_[i].name);
    }
    if (!missing.empty() && absent == Absent::error) {
      throw StateError("[set_attributes] no chosen module has the field: " + strata::internal::list_offenders(missing) +
                       ". Nothing was changed; Absent::ignore leaves such names out.");
    }
    for (const auto& [object, set, value] : assignments_) set(object, *value, true);
    return static_cast<Index>(assignments_.size());
  }

 private:
  struct Group {
    Node node;
    std::optional<bool> chosen;
  };
  struct Assignment {
    void* object;
    Setter set;
    const MetadataValue* value;
  };

  // Whether the module that the value belongs to is one of those asked for.
  bool is_chosen(const Trail& trail) {
    const int depth = trail.depth() - 1;
    Group& group = groups_[static_cast<std::size_t>(depth)];
    if (!group.chosen) group.chosen = only_(GraphNode(trail.path().prefix(depth), group.node));
    return *group.chosen;
  }

  const std::vector<Attribute>& attributes_;
  std::vector<bool> found_;
  const NodeFilter& only_;
  OtherType other_type_;
  std::vector<Group> groups_;  // those that lead to the place, the root first
  std::vector<Assignment> assignments_;
  std::vector<std::string> unfit_;
};

[[noreturn]] void throw_no_variable(const Filter& only) {
  throw StateError("[set_metadata] `" + to_string(only) + "` takes no variable.");
}

}  // namespace

Index set_attributes(Node root, const std::vector<Attribute>& attributes, const NodeFilter& only, Absent absent,
                     OtherType other_type) {
  FieldFinder finder(attributes, only, other_type);
  strata::internal::walk(root, finder);
  return finder.finish(absent);
}

Index set_metadata(Node root, const Filter& only, std::string_view name, const MetadataValue& value) {
  std::vector<strata::internal::Leaf> leaves = strata::internal::collect_leaves(root);
  std::erase_if(leaves, [&](const auto& leaf) { return !only(leaf.path, *leaf.variable); });
  if (leaves.empty()) throw_no_variable(only);
  for (const auto& leaf : leaves) leaf.variable->set_metadata(name, value);
  return static_cast<Index>(leaves.size());
}

Index set_metadata(State& state, const Filter& only, std::string_view name, const MetadataValue& value) {
  std::vector<Variable*> chosen;
  for (const auto& [path, variable] : state) {
    if (only(path, variable)) chosen.push_back(const_cast<Variable*>(&variable));
  }
  if (chosen.empty()) throw_no_variable(only);
  for (Variable* variable : chosen) variable->set_metadata(name, value);
  return static_cast<Index>(chosen.size());
}

}  // namespace strata::nn::internal
