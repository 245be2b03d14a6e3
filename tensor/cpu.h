// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata {

// The instruction set that the kernels use on this machine: `avx512`, `avx2`, `ssse3` or `baseline` on x86-64, `neon`
// or `baseline` elsewhere. It is chosen once, the best that CPU and build allow. The environment variable STRATA_ISA,
// read at the first use, limits it to the named level or below. Throws Error if the variable holds another name.
[[nodiscard]] std::string_view instruction_set();

}  // namespace strata
