// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/nn/state_axes.h"
#include "strata/state/internal/leaves.h"
#include "strata/state/internal/node.h"

namespace strata::nn::internal {

// How several alike modules are stacked in one. The axes of the variables are looked up once, when the module is
// stacked: a filter on shapes is asked about the variables of one member.
struct MemberLayout {
  struct Place {
    Path path;
    MemberAxis axis;
    bool operator==(const Place&) const = default;
  };

  Index size;
  StateAxes axes;
  std::vector<Place> places;  // of every variable, in the order of the paths

  bool operator==(const MemberLayout&) const = default;

  // Null if there is no such variable.
  [[nodiscard]] const Place* find(const Path& path) const;
};

// "8 members, StateAxes({rest: 0})"
std::string to_string(const MemberLayout& layout);

// Gives the variables of `stacked` the values of all members (at least one), which must be alike but for the values of
// variables. Throws StateError or ShapeError that lists what keeps them from being stacked.
MemberLayout stack_members(strata::internal::Node stacked, std::span<const strata::internal::Node> members,
                           const StateAxes& axes);

// Throws StateError if an object that the module shares would be stacked along other axes under its other paths.
void check_shared_objects(strata::internal::Node module, const State& state, const StateAxes& axes);

// The variables of the stacked module, in the order of the layout. Throws StateError that lists variables that came or
// went since it was stacked, ShapeError that lists those that lack members.
std::vector<strata::internal::Leaf> leaves_of(strata::internal::Node stacked, const MemberLayout& layout);

// Gives the variables of `module`, which is made like the stacked one, the values of one member.
// Throws ValueError if there is no such member.
void take_member(strata::internal::Node module, strata::internal::Node stacked, const MemberLayout& layout,
                 Index member);

// The children of a stacked module are those of the module itself, and the layout, which makes it part of the graph.
void visit_stacked(strata::internal::Node module, strata::internal::Node layout,
                   strata::internal::ChildVisitor& visitor);

}  // namespace strata::nn::internal
