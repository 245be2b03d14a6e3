// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/optim/schedule.h"

// Of numbers given to optimizers and schedules. Throw ValueError like "[adam] b1 is 1.5. Give a number from 0 to below
// 1."
namespace strata::optim::internal {

void check_finite(const char* operation, const char* parameter, double value);
void check_positive(const char* operation, const char* parameter, double value);      // and finite
void check_not_negative(const char* operation, const char* parameter, double value);  // and finite
void check_decay(const char* operation, const char* parameter, double value);         // from 0 to below 1
void check_share(const char* operation, const char* parameter, double value);         // from 0 to 1

// Throws ValueError if Nesterov's form is asked for and there is no momentum for it to act on.
void check_nesterov(const char* operation, bool nesterov, bool has_momentum);

// A constant rate must be finite and not negative. A schedule is checked at each step.
void check_learning_rate(const char* operation, const Schedule& learning_rate);

}  // namespace strata::optim::internal
