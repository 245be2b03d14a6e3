// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/observers.h"

#include <utility>

namespace strata::nn::internal {
namespace {

thread_local Observers current;

}  // namespace

const Observers& observers() noexcept { return current; }

void set_observers(const Observers& now) noexcept { current = now; }

ObserverScope::ObserverScope(const Observers& now) noexcept : before_(std::exchange(current, now)) {}

ObserverScope::~ObserverScope() { current = before_; }

}  // namespace strata::nn::internal
