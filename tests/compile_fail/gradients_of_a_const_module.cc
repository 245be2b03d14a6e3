// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

auto gradients(const strata::nn::Linear& linear) {
  return strata::nn::value_and_grad([](auto& m) { return strata::sum(m.kernel.value()); },
                                    strata::of_type<strata::Param>)(linear);
}
