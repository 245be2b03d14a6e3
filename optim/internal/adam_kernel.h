// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/shape.h"

namespace strata::optim::internal {

// The numbers of one step of Adam with decoupled weight decay. The corrections are 1 - beta^n for step number n,
// counted from 1; next_correction1 is that of step n + 1.
struct AdamStep {
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double epsilon_root = 0;
  double weight_decay = 0;
  double correction1 = 1;
  double correction2 = 1;
  double next_correction1 = 1;
  bool nesterov = false;
};

// m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2,
// u = -learning_rate (mean / (sqrt(v / correction2 + epsilon_root) + epsilon) + weight_decay p)
//
// with mean = m / correction1, or, with nesterov, beta1 m / next_correction1 + (1 - beta1) g / correction1, for n
// elements each, in one pass over memory: 28 bytes per float parameter. Large arrays are shared among threads.
// Source: Kingma and Ba (2015); Dozat (2016); Loshchilov and Hutter (2019).

// p = p + u.
void adam_step(const AdamStep& step, Index n, const float* g, float* m, float* v, float* p);
void adam_step(const AdamStep& step, Index n, const double* g, double* m, double* v, double* p);

// g = u.
void adam_update(const AdamStep& step, Index n, float* g, float* m, float* v, const float* p);
void adam_update(const AdamStep& step, Index n, double* g, double* m, double* v, const double* p);

}  // namespace strata::optim::internal
