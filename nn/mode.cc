// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/mode.h"

namespace strata::nn::internal {

void set_mode(strata::internal::Node root, Mode mode) {
  const bool value = mode == Mode::eval;
  set_attributes(root, {{"deterministic", value}, {"use_running_average", value}}, everything, Absent::ignore,
                 OtherType::ignore);
}

}  // namespace strata::nn::internal
