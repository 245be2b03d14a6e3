// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

strata::Filter filter() { return strata::of_type<strata::Tensor>; }
