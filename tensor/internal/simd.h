// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace strata::internal {

// Place of the chosen instruction set in Highway's dispatch tables. The first call chooses: the best level of this CPU,
// or the one that the environment variable STRATA_ISA limits it to. Throws Error if the variable holds an unknown name.
[[nodiscard]] std::size_t dispatch_index();

// Names of the levels that this build holds and this CPU can run, best first.
[[nodiscard]] std::vector<std::string_view> available_instruction_sets();

// Uses `name`, or the best level below it that the CPU can run, from now on. Throws Error if the name is unknown. For
// tests of every level; not to be called while kernels run.
void limit_instruction_set(std::string_view name);

}  // namespace strata::internal
