// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/stack_states.h"

#include <string>
#include <utility>

#include "strata/nn/internal/member_axis.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/state_access.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"

namespace strata::nn {

namespace internal {

Tensor member_of(const Tensor& x, MemberAxis axis, Index member) {
  if (!axis) return x;
  const int position = x.shape().normalize_axis(*axis, "member_of");
  if (position == 0) return x[member];
  return slice_axis(x, position, member, member + 1).reshape(x.shape().without_axis(position));
}

std::vector<Tensor> unstack(const Tensor& x, int axis) {
  std::vector<Tensor> members;
  const Tensor plain = stop_gradient(x);
  for (Index member = 0; member < x.size(axis); ++member) members.push_back(member_of(plain, axis, member));
  const std::vector<Tensor> blank = x.is_tracked() ? members : std::vector<Tensor>();
  return differentiable(std::move(members), std::span<const Tensor>(&x, 1),
                        [blank, axis](std::span<const Cotangent> cotangents) {
                          std::vector<Tensor> gradients;
                          for (std::size_t i = 0; i < cotangents.size(); ++i) {
                            gradients.push_back(cotangents[i] ? *cotangents[i] : zeros_like(blank[i]));
                          }
                          return std::vector<Cotangent>{stack(gradients, axis)};
                        });
}

Index check_member_axes(const State& stacked, const std::vector<MemberAxis>& axes, Index size,
                        const std::string& operation) {
  std::vector<std::string> offenders;
  auto axis = axes.begin();
  for (const auto& [path, variable] : stacked) {
    const MemberAxis at = *axis++;
    if (!at) continue;
    const Shape& shape = variable.value().shape();
    const bool exists = has_axis(shape.rank(), *at);
    if (exists && size < 0) size = shape[*at];
    if (exists && shape[*at] == size) continue;
    offenders.push_back(to_string(path) + " (" + describe(variable) + ", axis " + std::to_string(*at) + ")");
  }
  if (!offenders.empty()) {
    throw ShapeError("[" + operation + "] these variables do not have " +
                     (size < 0 ? std::string("any members") : std::to_string(size) + " members") +
                     " along their axes: " + strata::internal::list_offenders(offenders) + ".");
  }
  return size;
}

}  // namespace internal

namespace {

using strata::internal::list_offenders;

std::string shown(const State::Entry& entry) { return to_string(entry.path) + " (" + describe(entry.variable) + ")"; }

bool alike(const Variable& a, const Variable& b) {
  return &a.kind() == &b.kind() && a.value().dtype() == b.value().dtype() && a.value().shape() == b.value().shape();
}

// What keeps `other`, of the given number, from being stacked with the first state.
void compare(const State& first, const State& other, const std::string& number, std::vector<std::string>& offenders) {
  auto entry = other.begin();
  for (const State::Entry& expected : first) {
    for (; entry != other.end() && entry->path < expected.path; ++entry) {
      offenders.push_back(shown(*entry) + " is in state " + number + " alone");
    }
    if (entry == other.end() || entry->path != expected.path) {
      offenders.push_back(shown(expected) + " is missing in state " + number);
      continue;
    }
    if (!alike(expected.variable, entry->variable)) {
      offenders.push_back(shown(expected) + " is " + describe(entry->variable) + " in state " + number);
    } else if (!(expected.variable.metadata() == entry->variable.metadata())) {
      offenders.push_back(shown(expected) + " has other metadata in state " + number);
    }
    ++entry;
  }
  for (; entry != other.end(); ++entry) offenders.push_back(shown(*entry) + " is in state " + number + " alone");
}

// Entry `position` of all states, which are alike.
std::vector<Tensor> values_at(std::span<const State> states, std::ptrdiff_t position) {
  std::vector<Tensor> values;
  for (const State& state : states) values.push_back(state.begin()[position].variable.value());
  return values;
}

void check_can_stack(std::span<const State> states, const std::vector<MemberAxis>& axes) {
  std::vector<std::string> without_axis;
  std::vector<std::string> different;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const State::Entry& entry = states.front().begin()[static_cast<std::ptrdiff_t>(i)];
    if (axes[i]) {
      if (internal::has_axis(entry.variable.value().rank() + 1, *axes[i])) continue;
      without_axis.push_back(shown(entry) + " along axis " + std::to_string(*axes[i]));
      continue;
    }
    for (const Tensor& value : values_at(states, static_cast<std::ptrdiff_t>(i))) {
      if (identical(value, entry.variable.value())) continue;
      different.push_back(shown(entry));
      break;
    }
  }
  if (!without_axis.empty()) {
    throw ShapeError("[stack_states] there is no place for the new axis: " + list_offenders(without_axis) + ".");
  }
  if (!different.empty()) {
    throw StateError("[stack_states] variables that are to be shared differ: " + list_offenders(different) +
                     ". Give them an axis, or equal values.");
  }
}

}  // namespace

State stack_states(std::span<const State> states, const StateAxes& axes) {
  if (states.empty()) throw ValueError("[stack_states] there are no states. Give at least one.");
  const State& first = states.front();
  std::vector<std::string> offenders;
  for (std::size_t i = 1; i < states.size(); ++i) compare(first, states[i], std::to_string(i), offenders);
  if (!offenders.empty()) {
    throw StateError("[stack_states] the states differ from the first: " + list_offenders(offenders) + ".");
  }
  const std::vector<MemberAxis> found = axes.axes_of(first);
  check_can_stack(states, found);
  std::vector<State::Entry> entries;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto position = static_cast<std::ptrdiff_t>(i);
    entries.push_back(first.begin()[position]);
    if (found[i]) entries.back().variable.reset(stack(values_at(states, position), *found[i]));
  }
  return strata::internal::StateAccess::from_sorted(std::move(entries));
}

std::vector<State> unstack_state(const State& state, const StateAxes& axes) {
  const std::vector<MemberAxis> found = axes.axes_of(state);
  const Index size = internal::check_member_axes(state, found, -1, "unstack_state");
  if (size < 0) {
    throw StateError("[unstack_state] the number of members is not known: no variable of the state has an axis.");
  }
  std::vector<std::vector<State::Entry>> entries(static_cast<std::size_t>(size));
  auto axis = found.begin();
  for (const State::Entry& entry : state) {
    const std::vector<Tensor> values =
        *axis ? internal::unstack(entry.variable, **axis) : std::vector<Tensor>(entries.size(), entry.variable);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].push_back(entry);
      entries[i].back().variable.reset(values[i]);
    }
    ++axis;
  }
  std::vector<State> states;
  for (auto& of_member : entries) states.push_back(strata::internal::StateAccess::from_sorted(std::move(of_member)));
  return states;
}

}  // namespace strata::nn
