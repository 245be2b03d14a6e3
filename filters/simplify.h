// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/filters/filter.h"

namespace strata {

// A filter that takes the same variables and has no parts that change nothing:
//
//   !!f                        f
//   f & everything, f | nothing   f                 and  f & nothing -> nothing, f | everything -> everything
//   f & f                      f
//   f & !f                     nothing              and  f | !f -> everything
//   f & (f | g), f | (f & g)   f                    also if f is itself a conjunction or an alternative
//   (f & g) & h                all(f, g, h)
//   any(f)                     f
//   path_in(), dtype()         nothing
//
// `rest` stays; within another filter, where it means the same, it counts as everything. Predicates are taken to give
// the same answer each time. Simplifying again changes nothing. Parts keep their order.
[[nodiscard]] Filter simplify(const Filter& filter);

}  // namespace strata
