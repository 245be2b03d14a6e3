// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/nn/attributes.h"

namespace strata::nn {

namespace internal {

enum class Mode { train, eval };
void set_mode(strata::internal::Node root, Mode mode);

}  // namespace internal

// Puts every module below this one into training mode: bool fields named `deterministic` (dropout) and
// `use_running_average` (batch statistics) become false.
template <class M>
void train(M& module) {
  internal::set_mode(strata::internal::node_of(module), internal::Mode::train);
}

// Puts every module below this one into evaluation mode: the same fields become true.
template <class M>
void eval(M& module) {
  internal::set_mode(strata::internal::node_of(module), internal::Mode::eval);
}

}  // namespace strata::nn
