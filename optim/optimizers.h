// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "strata/optim/schedule.h"
#include "strata/optim/transformation.h"

// The optimizers of optax 0.2.8, under its names, defaults and paths of memory. In the formulas g is the gradient, p
// the parameter, u the update that is added to it, lr the learning rate, and n the number of the step from 1.
//
// Throw ValueError, naming the option and its range, for decays and momenta that are not from 0 to 1 (those of Adam
// below 1), for negative or infinite numbers, NaN, an eps of 0 where a gradient of 0 would be divided by it, and
// `nesterov` without the momentum that it is a form of.
//
// Two-byte floating parameters are updated in float32 and rounded once; their memory has their own element type.
namespace strata::optim {

struct SGDOptions {
  std::optional<double> momentum = std::nullopt;
  bool nesterov = false;
};

// t = g + momentum t;  u = -lr t, or with nesterov -lr (g + momentum t); without momentum -lr g.
[[nodiscard]] Transformation sgd(Schedule learning_rate, SGDOptions options = {});

struct AdamOptions {
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  bool nesterov = false;
};

// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  u = -lr m^ / (sqrt(v^ + eps_root) + eps), where m^ = m / (1 - b1^n)
// and v^ = v / (1 - b2^n); with nesterov m^ = b1 m / (1 - b1^(n+1)) + (1 - b1) g / (1 - b1^n). Source: Kingma and Ba
// (2015); Dozat (2016).
[[nodiscard]] Transformation adam(Schedule learning_rate, AdamOptions options = {});

struct AdamWOptions {
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double eps_root = 0;
  double weight_decay = 1e-4;
  bool nesterov = false;
};

// Adam, and the parameter shrinks beside it: u = -lr (m^ / (sqrt(v^ + eps_root) + eps) + weight_decay p).
// Source: Loshchilov and Hutter (2019).
[[nodiscard]] Transformation adamw(Schedule learning_rate, AdamWOptions options = {});

struct RMSPropOptions {
  double decay = 0.9;
  double eps = 1e-8;
  double initial_scale = 0;
  bool eps_in_sqrt = true;  // PyTorch adds it outside
  bool centered = false;
  std::optional<double> momentum = std::nullopt;  // of the scaled update
  bool nesterov = false;
  bool bias_correction = false;
};

// v = decay v + (1 - decay) g^2;  u = -lr g / sqrt(v + eps), or g / (sqrt(v) + eps); `centered` subtracts the square of
// the mean gradient from v. Source: Tieleman and Hinton (2012); Graves (2013).
[[nodiscard]] Transformation rmsprop(Schedule learning_rate, RMSPropOptions options = {});

struct AdagradOptions {
  double initial_accumulator_value = 0.1;
  double eps = 1e-7;
};

// s = s + g^2;  u = -lr g / sqrt(s + eps), 0 where s is 0. Source: Duchi, Hazan and Singer (2011).
[[nodiscard]] Transformation adagrad(Schedule learning_rate, AdagradOptions options = {});

struct LionOptions {
  double b1 = 0.9;
  double b2 = 0.99;
  double weight_decay = 1e-3;
};

// u = -lr (sign(b1 m + (1 - b1) g) + weight_decay p), then m = b2 m + (1 - b2) g. Source: Chen et al. (2023).
[[nodiscard]] Transformation lion(Schedule learning_rate, LionOptions options = {});

}  // namespace strata::optim
