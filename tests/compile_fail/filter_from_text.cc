// SPDX-License-Identifier: Apache-2.0
// A text is neither a tag nor a path.
#include <strata/strata.h>

auto groups(const strata::State& state) { return strata::split(state, "params", strata::rest); }
