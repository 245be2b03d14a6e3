// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Options {
  int width = 0;
};
struct Layer {
  strata::Param kernel;
  Options options;
  STRATA_FIELDS(kernel, options)
};

strata::State state(const Layer& layer) { return strata::nn::state(layer); }
