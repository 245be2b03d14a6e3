// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "strata/optim/internal/per_element.h"
#include "strata/optim/optimizers.h"
#include "strata/tensor/internal/optimizer_kernels.h"

namespace strata::optim {
namespace {

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
    const bool fused = !options_.nesterov && std::all_of(params.begin(), params.end(), [](const Tensor& param) {
      return param.dtype() == DType::float32 || param.dtype() == DType::float64;
    });
    if (!fused) return Rule::step(params, std::move(gradients), memory);
    const StepFacts facts = begin_step(memory);
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
  void step_one(const StepFacts& facts, Tensor& param, const Tensor& gradient, Memory& memory, std::size_t i) const {
    strata::internal::adam_update(kernel_step(facts), param.size(), gradient.data<T>().data(),
                                  memory.slots[0].values[i].mutable_data<T>().data(),
                                  memory.slots[1].values[i].mutable_data<T>().data(), param.mutable_data<T>().data());
  }

  [[nodiscard]] strata::internal::AdamStep kernel_step(const StepFacts& facts) const {
    return {.learning_rate = facts.learning_rate,
            .beta1 = options_.b1,
            .beta2 = options_.b2,
            .epsilon = options_.eps,
            .epsilon_root = options_.eps_root,
            .weight_decay = options_.weight_decay,
            .correction1 = 1 - std::pow(options_.b1, facts.number),
            .correction2 = 1 - std::pow(options_.b2, facts.number)};
  }

  void run(const StepFacts& facts, Index size, float* update, const float* param,
           const SlotPointers<float>& slots) const override {
    run_elements(facts, size, update, param, slots);
  }
  void run(const StepFacts& facts, Index size, double* update, const double* param,
           const SlotPointers<double>& slots) const override {
    run_elements(facts, size, update, param, slots);
  }

  template <class T>
  void run_elements(const StepFacts& facts, Index size, T* update, const T* param, const SlotPointers<T>& slots) const {
    const strata::internal::AdamStep s = kernel_step(facts);
    const T b1 = static_cast<T>(s.beta1);
    const T b2 = static_cast<T>(s.beta2);
    const T g_share = static_cast<T>(1 - s.beta1);
    const T next_correction = static_cast<T>(1 - std::pow(options_.b1, facts.number + 1));
    for (Index i = 0; i < size; ++i) {
      const T g = update[i];
      T& m = slots[0][i];
      T& v = slots[1][i];
      m = b1 * m + g_share * g;
      v = b2 * v + static_cast<T>(1 - s.beta2) * g * g;
      const T mean = options_.nesterov ? b1 * m / next_correction + g_share * g / static_cast<T>(s.correction1)
                                       : m / static_cast<T>(s.correction1);
      const T root = std::sqrt(v / static_cast<T>(s.correction2) + static_cast<T>(s.epsilon_root));
      const T direction = mean / (root + static_cast<T>(s.epsilon));
      update[i] = -static_cast<T>(s.learning_rate) * (direction + static_cast<T>(s.weight_decay) * param[i]);
    }
  }

  AdamWOptions options_;
};

}  // namespace

Transformation adam(Schedule learning_rate, AdamOptions options) {
  const AdamWOptions all{.b1 = options.b1,
                         .b2 = options.b2,
                         .eps = options.eps,
                         .eps_root = options.eps_root,
                         .weight_decay = 0,
                         .nesterov = options.nesterov};
  return Transformation(std::make_shared<Adam>(all, std::move(learning_rate), Path{1, "count"}));
}

Transformation adamw(Schedule learning_rate, AdamWOptions options) {
  return Transformation(std::make_shared<Adam>(options, std::move(learning_rate), Path{2, "count"}));
}

}  // namespace strata::optim
