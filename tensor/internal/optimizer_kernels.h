// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/shape.h"

namespace strata::internal {

// One step of Adam with decoupled weight decay. The corrections are 1 - beta^t for step number t, counted from 1.
struct AdamStep {
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double epsilon_root = 0;
  double weight_decay = 0;
  double correction1 = 1;
  double correction2 = 1;
};

// m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
// p = p - learning_rate (m / correction1 / (sqrt(v / correction2 + epsilon_root) + epsilon) + weight_decay p)
//
// for n elements each, in one pass over memory: 28 bytes per float parameter. Large arrays are shared among threads.
// Source: Kingma and Ba (2015); Loshchilov and Hutter (2019).
void adam_update(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p);
void adam_update(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p);

}  // namespace strata::internal
