// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

template <class T>
struct Layer {
  T inner;
  strata::Param bias;
  STRATA_FIELDS(inner)
};

strata::State state(const Layer<strata::Param>& layer) { return strata::nn::state(layer); }
