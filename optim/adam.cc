// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "strata/optim/internal/adam_kernel.h"
#include "strata/optim/internal/checks.h"
#include "strata/optim/internal/per_element.h"
#include "strata/optim/optimizers.h"

namespace strata::optim {
namespace {

using internal::AdamStep;
using internal::PerElementRule;
using internal::StepFacts;

class Adam final : public PerElementRule {
 public:
  Adam(const AdamWOptions& options, Schedule learning_rate, Path schedule_count)
      : PerElementRule(std::move(learning_rate), {.count = Path{0, "count"},
                                                  .schedule_count = std::move(schedule_count),
                                                  .slots = {{.path = {0, "mu"}}, {.path = {0, "nu"}}}}),
        options_(options) {}

  // One pass over parameter, gradient and both memories.
  void step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const override {
    const bool any_two_byte =
        std::any_of(params.begin(), params.end(), [](const Tensor& param) { return is_two_byte_float(param.dtype()); });
    if (any_two_byte) return Rule::step(params, std::move(gradients), memory);
    const AdamStep facts = kernel_step(begin_step(memory));
    for (std::size_t i = 0; i < params.size(); ++i) {
      if (params[i].dtype() == DType::float32) {
        step_one<float>(facts, params[i], gradients[i], memory, i);
      } else {
        step_one<double>(facts, params[i], gradients[i], memory, i);
      }
    }
  }

 private:
  template <class T>
  static void step_one(const AdamStep& facts, Tensor& param, const Tensor& gradient, Memory& memory, std::size_t i) {
    internal::adam_step(facts, param.size(), gradient.data<T>().data(),
                        memory.slots[0].values[i].mutable_data<T>().data(),
                        memory.slots[1].values[i].mutable_data<T>().data(), param.mutable_data<T>().data());
  }

  [[nodiscard]] AdamStep kernel_step(const StepFacts& facts) const {
    return {.learning_rate = facts.learning_rate,
            .beta1 = options_.b1,
            .beta2 = options_.b2,
            .epsilon = options_.eps,
            .epsilon_root = options_.eps_root,
            .weight_decay = options_.weight_decay,
            .correction1 = 1 - std::pow(options_.b1, facts.number),
            .correction2 = 1 - std::pow(options_.b2, facts.number),
            .next_correction1 = 1 - std::pow(options_.b1, facts.number + 1),
            .nesterov = options_.nesterov};
  }

  void run(const StepFacts& facts, Index size, float* update, const float* param,
           const SlotPointers<float>& slots) const override {
    internal::adam_update(kernel_step(facts), size, update, slots[0], slots[1], param);
  }
  void run(const StepFacts& facts, Index size, double* update, const double* param,
           const SlotPointers<double>& slots) const override {
    internal::adam_update(kernel_step(facts), size, update, slots[0], slots[1], param);
  }

  AdamWOptions options_;
};

Transformation make_adam(const char* name, Schedule learning_rate, const AdamWOptions& o, Path schedule_count) {
  internal::check_learning_rate(name, learning_rate);
  internal::check_decay(name, "b1", o.b1);
  internal::check_decay(name, "b2", o.b2);
  internal::check_not_negative(name, "eps", o.eps);
  internal::check_not_negative(name, "eps_root", o.eps_root);
  if (o.eps_root == 0) internal::check_positive(name, "eps", o.eps);  // a gradient of 0 would be divided by it
  internal::check_not_negative(name, "weight_decay", o.weight_decay);
  return Transformation(std::make_shared<Adam>(o, std::move(learning_rate), std::move(schedule_count)));
}

}  // namespace

Transformation adam(Schedule learning_rate, AdamOptions options) {
  const AdamWOptions all{.b1 = options.b1,
                         .b2 = options.b2,
                         .eps = options.eps,
                         .eps_root = options.eps_root,
                         .weight_decay = 0,
                         .nesterov = options.nesterov};
  return make_adam("adam", std::move(learning_rate), all, {1, "count"});
}

Transformation adamw(Schedule learning_rate, AdamWOptions options) {
  return make_adam("adamw", std::move(learning_rate), options, {2, "count"});
}

}  // namespace strata::optim
