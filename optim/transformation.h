// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "strata/state/path.h"
#include "strata/tensor/tensor.h"

namespace strata::optim {

// What a transformation remembers between steps.
struct Memory {
  struct Scalar {
    Path path;  // "count"
    Tensor value;
  };
  struct Slot {
    Path path;                   // "mu"
    std::vector<Tensor> values;  // one for each parameter, in their order
  };
  std::vector<Scalar> scalars;
  std::vector<Slot> slots;
  std::vector<Memory> links;  // of a chain
};

// How gradients become updates of parameters. A value; copies share the rule, which never changes.
//
// One of your own derives from Rule. Parameters, gradients and updates are vectors of floating tensors in one order, of
// equal shapes and element types.
class Transformation {
 public:
  class Rule {
   public:
    virtual ~Rule() = default;

    [[nodiscard]] virtual Memory init(std::span<const Tensor> params) const = 0;

    // Makes updates, which are added to the parameters, of gradients (or of the updates of the link before).
    virtual void update(std::span<Tensor> updates, Memory& memory, std::span<const Tensor> params) const = 0;

    // Makes the updates and adds them. Override it where that saves a pass over memory.
    virtual void step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const;

    // An optimizer's step that throws changes nothing. True promises that update and step, given elements of float32 or
    // float64 that are shared with no other tensor, throw before they write to memory and parameters or not at all:
    // they then write in place. Other rules work on copies, which take their place afterwards.
    [[nodiscard]] virtual bool writes_last() const { return false; }
  };

  // Throws ValueError if there is no rule.
  explicit Transformation(std::shared_ptr<const Rule> rule);

  [[nodiscard]] const Rule& rule() const noexcept { return *rule_; }

 private:
  std::shared_ptr<const Rule> rule_;
};

// One transformation after the other. Their memories are numbered in this order.
[[nodiscard]] Transformation chain(std::vector<Transformation> links);
template <std::same_as<Transformation>... T>
[[nodiscard]] Transformation chain(const Transformation& first, const T&... rest) {
  return chain(std::vector<Transformation>{first, rest...});
}

// Leaves gradients alone whose norm, over all parameters together, is below max_norm; scales others down to that norm.
// Throws ValueError unless max_norm is positive. Source: Pascanu, Mikolov and Bengio (2013).
[[nodiscard]] Transformation clip_by_global_norm(double max_norm);

}  // namespace strata::optim
