// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

void clear(strata::Tensor& t) { t[0] = strata::zeros({3}); }
