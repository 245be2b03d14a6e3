// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/state/kind.h"

namespace strata {

// The kind of that name, or null if none is known. Known are the kinds of variable.h, five of them also by the names
// that Flax has for them (params, batch_stats, cache, intermediates, perturbations), and those registered.
[[nodiscard]] const Kind* find_kind(std::string_view name);

// The names of all known kinds, sorted.
[[nodiscard]] std::vector<std::string> kind_names();

// Makes a kind of one's own known by its name, for what names kinds in text, such as filters and checkpoints:
//
//   struct Adapter : Param { STRATA_KIND(Adapter, Param) };
//   strata::register_kind(strata::kind_of<Adapter>());
//
// Once is enough, again does no harm. Throws ValueError if another kind has the name.
void register_kind(const Kind& kind);

// The kind of that name; if none is known, one that specialises `base` is made, for as long as the program runs. For
// programs that look at files whose kinds they do not have.
const Kind& find_or_add_kind(std::string_view name, const Kind& base);

}  // namespace strata
