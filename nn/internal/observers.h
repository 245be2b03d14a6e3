// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::nn::internal {

class Collector;
class Perturbations;

// Who is told what layers do while a module runs in this thread; null where nobody asked.
struct Observers {
  Collector* collector = nullptr;          // nn::capture
  Perturbations* perturbations = nullptr;  // nn::value_and_grad
};

[[nodiscard]] const Observers& observers() noexcept;
void set_observers(const Observers& now) noexcept;

// While it exists, these, or those set meanwhile, are the observers of this thread.
class ObserverScope {
 public:
  explicit ObserverScope(const Observers& now) noexcept;
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;
  ~ObserverScope();

 private:
  Observers before_;
};

}  // namespace strata::nn::internal
