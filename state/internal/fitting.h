// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/state.h"

namespace strata::internal {

// What a variable is to be like.
struct Form {
  Shape shape;
  DType dtype;
};

// Gives the variables below root the values and metadata of the states; later states win, variables that no state has
// stay as they are, and kinds stay. An entry of the root kind, from a file that knows no kinds, changes the value
// alone. Throws StateError that lists all entries that do not fit, in path, shape or element type, before anything is
// changed.
void update_variables(Node root, std::span<const State* const> states);

// The same for a module whose variables are blank: `forms` says in the order of a walk what they are to be like, each
// must be in exactly one state, with the kind that the C++ type of its place fixes; where that leaves the kind open, it
// takes the entry's.
void fill_variables(Node root, std::span<const Form> forms, std::span<const State* const> states);

// Throws StateError that lists all entries of `got` that do not fit `expected` in path, kind, shape or element type.
void check_same_form(const State& expected, const State& got, const char* operation);

}  // namespace strata::internal
