// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "strata/optim/schedule.h"
#include "strata/optim/transformation.h"
#include "strata/tensor/thread_pool.h"

namespace strata::optim::internal {

// What is fixed for one step.
struct StepFacts {
  double learning_rate;
  Index number;  // from 1
};

// A memory of the size of the parameters, and what it is filled with at first.
struct SlotSpec {
  Path path;
  double initial = 0;
};

// Where a rule keeps what. Optax builds its optimizers of chains, whose links are numbered: the paths follow those
// chains.
struct MemoryLayout {
  std::optional<Path> count = {};  // of steps, if the rule needs it
  Path schedule_count = {};        // of steps, kept only if the learning rate is not constant
  std::vector<SlotSpec> slots = {};
};

// An optimizer that treats every element alike. A derived class gives the formula for runs of elements.
class PerElementRule : public Transformation::Rule {
 public:
  PerElementRule(Schedule learning_rate, MemoryLayout layout)
      : learning_rate_(std::move(learning_rate)), layout_(std::move(layout)) {}

  [[nodiscard]] Memory init(std::span<const Tensor> params) const override;
  void update(std::span<Tensor> updates, Memory& memory, std::span<const Tensor> params) const override;
  [[nodiscard]] bool writes_last() const override { return true; }

 protected:
  static constexpr std::size_t max_slots = 3;
  template <class T>
  using SlotPointers = std::array<T*, max_slots>;

  // The facts of the next step; the counts rise by one. Throws ValueError, before they do, if the schedule gives a
  // number that is not finite.
  StepFacts begin_step(Memory& memory) const;

  // Replaces gradients (in `update`) by updates.
  virtual void run(const StepFacts& facts, Index size, float* update, const float* param,
                   const SlotPointers<float>& slots) const = 0;
  virtual void run(const StepFacts& facts, Index size, double* update, const double* param,
                   const SlotPointers<double>& slots) const = 0;

 private:
  template <class T>
  void update_one(const StepFacts& facts, Tensor& update, Memory& memory, std::size_t index, const Tensor& param) const;

  Schedule learning_rate_;
  MemoryLayout layout_;
};

// Gives run() for both element types from Formula::prepare<T>(facts), a function (gradient, param, slots...) -> update
// of one element, in chunks shared among threads.
template <class Formula>
class FormulaRule final : public PerElementRule {
 public:
  FormulaRule(Formula formula, Schedule learning_rate, MemoryLayout layout)
      : PerElementRule(std::move(learning_rate), std::move(layout)), formula_(formula) {}

 private:
  void run(const StepFacts& facts, Index size, float* update, const float* param,
           const SlotPointers<float>& slots) const override {
    run_chunks(facts, size, update, param, slots);
  }
  void run(const StepFacts& facts, Index size, double* update, const double* param,
           const SlotPointers<double>& slots) const override {
    run_chunks(facts, size, update, param, slots);
  }

  template <class T>
  void run_chunks(const StepFacts& facts, Index size, T* update, const T* param, const SlotPointers<T>& slots) const {
    constexpr Index grain = 1 << 14;
    const auto element = formula_.template prepare<T>(facts);
    parallel_for(0, size, grain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        T unused[max_slots] = {};
        update[i] = element(update[i], param[i], slots[0] ? slots[0][i] : unused[0], slots[1] ? slots[1][i] : unused[1],
                            slots[2] ? slots[2][i] : unused[2]);
      }
    });
  }

  Formula formula_;
};

}  // namespace strata::optim::internal
