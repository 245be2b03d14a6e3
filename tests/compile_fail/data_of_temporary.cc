// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

float first(const strata::Tensor& t) { return (t + t).data<float>()[0]; }
