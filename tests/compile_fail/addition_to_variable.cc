// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

void decay(strata::Param& p) { p += p; }
