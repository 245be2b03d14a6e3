// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "strata/tensor/error.h"

namespace strata::optim {
namespace {

void check_steps(Index steps, const char* schedule) {
  if (steps < 1) {
    throw ValueError("[" + std::string(schedule) + "] the number of steps must be positive, got " +
                     std::to_string(steps) + ".");
  }
}

double part_of(Index step, Index steps) {
  return static_cast<double>(std::clamp<Index>(step, 0, steps)) / static_cast<double>(steps);
}

}  // namespace

Schedule linear_schedule(double start, double end, Index steps) {
  check_steps(steps, "linear_schedule");
  return [=](Index step) { return start + (end - start) * part_of(step, steps); };
}

Schedule exponential_decay(double start, Index steps, double rate, ExponentialDecay options) {
  check_steps(steps, "exponential_decay");
  return [=](Index step) {
    double exponent = static_cast<double>(step) / static_cast<double>(steps);
    if (options.staircase) exponent = std::floor(exponent);
    const double value = start * std::pow(rate, exponent);
    if (options.end_value == 0) return value;
    return rate < 1 ? std::max(value, options.end_value) : std::min(value, options.end_value);
  };
}

Schedule cosine_decay(double start, Index steps, double alpha) {
  check_steps(steps, "cosine_decay");
  return [=](Index step) {
    const double cosine = (1 + std::cos(std::numbers::pi * part_of(step, steps))) / 2;
    return start * ((1 - alpha) * cosine + alpha);
  };
}

Schedule warmup_cosine_decay(double start, double peak, Index warmup_steps, Index steps, double end) {
  check_steps(warmup_steps, "warmup_cosine_decay");
  check_steps(steps - warmup_steps, "warmup_cosine_decay");
  const Schedule warmup = linear_schedule(start, peak, warmup_steps);
  const Schedule decay = cosine_decay(peak, steps - warmup_steps, peak == 0 ? 0 : end / peak);
  return [=](Index step) { return step < warmup_steps ? warmup(step) : decay(step - warmup_steps); };
}

Schedule piecewise_constant(double start, std::vector<std::pair<Index, double>> factors) {
  return [start, factors = std::move(factors)](Index step) {
    double value = start;
    for (const auto& [from, factor] : factors) {
      if (step >= from) value *= factor;
    }
    return value;
  };
}

}  // namespace strata::optim
