// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strata/nn/internal/collector.h"
#include "strata/nn/internal/observers.h"
#include "strata/nn/internal/perturbations.h"

namespace strata::nn::internal {

// Who observes the members of a stacked module, each a copy of its own and perhaps in another thread, for those who
// observe the stacked module.
class MemberObservers {
 public:
  // `owner` is the object that holds the stacked module.
  MemberObservers(strata::internal::Node owner, Index size);

  // True if members are differentiated by what they perturb.
  [[nodiscard]] bool wants_gradients() const noexcept { return outer_.perturbations != nullptr; }

  // Sets the observers of this thread to those of the member. The tape is the member's own, or null: then it records on
  // the tape around the call.
  void begin(Index member, strata::internal::Node module, GradientTape* tape);

  // The tensors that the member handed out.
  [[nodiscard]] std::vector<Tensor> end(Index member);

  // Throws StateError if members differ in what they hand out or perturb.
  void check_alike() const;

  // The paths of the tensors that a member handed out, within the stacked module's observers.
  [[nodiscard]] std::vector<std::string> names() const;

  // Hands on the tensors that members handed out, stacked along the leading axis.
  void hand_on(std::vector<Tensor> stacked);

  // What members with tapes of their own perturb: the zeros that one member watches, and those of all members, watched
  // by the tape around the call.
  [[nodiscard]] std::vector<Tensor> zeros_of(Index member) const;
  [[nodiscard]] std::vector<Tensor> zeros_of_all() const;

 private:
  struct Member {
    std::optional<Collector> collector;
    std::optional<Perturbations> perturbations;
    Collector::Records records;
  };

  Observers outer_;
  const Path* collected_at_ = nullptr;  // the owner's path in what is captured
  const Path* perturbed_at_ = nullptr;  // and in what is differentiated
  std::vector<Member> members_;
};

}  // namespace strata::nn::internal
