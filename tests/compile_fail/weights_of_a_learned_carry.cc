// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

using namespace strata;

State exported(const recurrent::RNN<recurrent::LearnedCarry<recurrent::LSTMCell>>& layer) {
  return recurrent::export_weights(layer, recurrent::WeightLayout::pytorch);
}
