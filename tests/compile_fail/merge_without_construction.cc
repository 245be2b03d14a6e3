// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

struct Layer {
  std::unique_ptr<strata::Param> kernel;
  explicit Layer(int) {}
  STRATA_FIELDS(kernel)
};

Layer copy(const Layer& layer) { return strata::nn::clone(layer); }
