// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/state.h"

namespace strata::internal {

// A variable where it stands in a module.
struct Leaf {
  Path path;
  Variable* variable;
  bool typed;  // the C++ type of the place fixes the kind
};

// What a state is to have at a path.
struct Expected {
  Path path;
  const Kind* kind;
  Shape shape;
  DType dtype;
  bool typed;
};

// Every variable below root once, in the order of the paths.
std::vector<Leaf> collect_leaves(Node root);

// The values that the leaves have now.
State state_of(const std::vector<Leaf>& leaves);

// What the leaves are, without their values.
std::vector<Expected> expect(const std::vector<Leaf>& leaves);

enum class Fit {
  whole,    // the state is to have every path, and the kinds of typed places
  partial,  // the state may have some paths only, and any kinds
};

// Throws StateError that lists all entries that do not fit: paths that are not expected, shapes, element types or kinds
// that differ, and paths that the state lacks. An entry of the root kind, from a file that knows no kinds, fits every
// kind.
void check_fit(const std::vector<Expected>& expected, const State& state, Fit fit, const char* operation);

// Gives the leaves the values and metadata of the state, which fits; with Fit::whole also the kinds, where the place
// has none of its own. An entry of the root kind changes the value alone.
void assign_leaves(const std::vector<Leaf>& leaves, const State& state, Fit fit) noexcept;

}  // namespace strata::internal
