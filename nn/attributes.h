// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "strata/nn/node_filter.h"
#include "strata/nn/seeds.h"
#include "strata/state/metadata.h"
#include "strata/state/state.h"

namespace strata::nn {

// A plain field of modules by its name: bool, integer, floating or text, or an optional of these.
struct Attribute {
  std::string_view name;
  MetadataValue value;
};

namespace internal {

// What to do with a field of that name that the value does not fit.
enum class OtherType { error, ignore };

Index set_attributes(strata::internal::Node root, const std::vector<Attribute>& attributes, const NodeFilter& only,
                     Absent absent, OtherType other_type);
Index set_metadata(strata::internal::Node root, const Filter& only, std::string_view name, const MetadataValue& value);
Index set_metadata(State& state, const Filter& only, std::string_view name, const MetadataValue& value);

}  // namespace internal

// Sets each named field of every module that has one and that `only` takes; returns how many fields were set.
//
//   nn::set_attributes(model, {{"rate", 0.5}, {"deterministic", false}}, nn::of_module<nn::Dropout>);
//
// An integer also fits a floating field. Throws DTypeError that lists the fields that a value does not fit, in type or
// range, and, unless Absent::ignore, StateError that lists the names that no module has; nothing is changed then.
template <class M>
Index set_attributes(M& module, const std::vector<Attribute>& attributes, const NodeFilter& only = everything,
                     Absent absent = Absent::error) {
  return internal::set_attributes(strata::internal::node_of(module), attributes, only, absent,
                                  internal::OtherType::error);
}

// Gives the variables that the filter takes, of a module or of a state, this metadata; returns how many there are.
// Throws StateError if there are none.
template <class M>
Index set_metadata(M& module_or_state, const Filter& only, std::string_view name, const MetadataValue& value) {
  if constexpr (std::same_as<M, State>) {
    return internal::set_metadata(module_or_state, only, name, value);
  } else {
    return internal::set_metadata(strata::internal::node_of(module_or_state), only, name, value);
  }
}

}  // namespace strata::nn
