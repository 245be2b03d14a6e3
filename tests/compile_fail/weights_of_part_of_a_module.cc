// SPDX-License-Identifier: Apache-2.0
#include <strata/strata.h>

using namespace strata;

// Looks like an RNN; its head would be lost.
State exported(const recurrent::TokenDecoder<recurrent::LSTMCell>& decoder) {
  return recurrent::export_weights(decoder, recurrent::WeightLayout::pytorch);
}
