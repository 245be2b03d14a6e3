// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "strata/optim/internal/checks.h"
#include "strata/tensor/error.h"

namespace strata::optim {
namespace {

using internal::check_finite;
using internal::check_not_negative;
using internal::check_positive;

void check_steps(const char* schedule, const char* parameter, Index steps) {
  if (steps >= 1) return;
  throw ValueError("[" + std::string(schedule) + "] " + parameter + " is " + std::to_string(steps) +
                   ". Give 1 or more.");
}

double part_of(Index step, Index steps) {
  return static_cast<double>(std::clamp<Index>(step, 0, steps)) / static_cast<double>(steps);
}

}  // namespace

void Schedule::check_function() const {
  if (!function_) throw ValueError("[Schedule] the function is empty. Give one with a target, or a number.");
}

Schedule linear_schedule(double start, double end, Index steps) {
  check_finite("linear_schedule", "start", start);
  check_finite("linear_schedule", "end", end);
  check_steps("linear_schedule", "steps", steps);
  return [=](Index step) { return start + (end - start) * part_of(step, steps); };
}

Schedule exponential_decay(double start, Index steps, double rate, ExponentialDecay options) {
  check_finite("exponential_decay", "start", start);
  check_steps("exponential_decay", "steps", steps);
  check_positive("exponential_decay", "rate", rate);
  check_finite("exponential_decay", "end_value", options.end_value);
  return [=](Index step) {
    double exponent = static_cast<double>(step) / static_cast<double>(steps);
    if (options.staircase) exponent = std::floor(exponent);
    const double value = start * std::pow(rate, exponent);
    if (options.end_value == 0) return value;
    return rate < 1 ? std::max(value, options.end_value) : std::min(value, options.end_value);
  };
}

Schedule cosine_decay(double start, Index steps, double alpha) {
  check_finite("cosine_decay", "start", start);
  check_steps("cosine_decay", "steps", steps);
  check_finite("cosine_decay", "alpha", alpha);
  return [=](Index step) {
    const double cosine = (1 + std::cos(std::numbers::pi * part_of(step, steps))) / 2;
    return start * ((1 - alpha) * cosine + alpha);
  };
}

Schedule warmup_cosine_decay(double start, double peak, Index warmup_steps, Index steps, double end) {
  constexpr const char* name = "warmup_cosine_decay";
  check_finite(name, "start", start);
  check_finite(name, "peak", peak);
  check_steps(name, "warmup_steps", warmup_steps);
  check_finite(name, "end", end);
  if (steps <= warmup_steps) {
    throw ValueError("[warmup_cosine_decay] steps is " + std::to_string(steps) + ". Give more than warmup_steps, " +
                     std::to_string(warmup_steps) + ".");
  }
  const Schedule warmup = linear_schedule(start, peak, warmup_steps);
  const Schedule decay = cosine_decay(peak, steps - warmup_steps, peak == 0 ? 0 : end / peak);
  return [=](Index step) { return step < warmup_steps ? warmup(step) : decay(step - warmup_steps); };
}

Schedule piecewise_constant(double start, std::vector<std::pair<Index, double>> factors) {
  check_finite("piecewise_constant", "start", start);
  for (const auto& [from, factor] : factors) {
    check_not_negative("piecewise_constant", "a step", static_cast<double>(from));
    check_not_negative("piecewise_constant", "a factor", factor);
  }
  return [start, factors = std::move(factors)](Index step) {
    double value = start;
    for (const auto& [from, factor] : factors) {
      if (step >= from) value *= factor;
    }
    return value;
  };
}

}  // namespace strata::optim
