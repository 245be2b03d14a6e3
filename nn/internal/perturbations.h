// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/nn/internal/module_paths.h"
#include "strata/tensor/gradient.h"

namespace strata::nn::internal {

// The intermediate values of a loss that it is differentiated by: zeros that are watched, and count as added where
// layers perturb.
class Perturbations {
 public:
  struct Entry {
    Path path;
    Tensor zeros;  // watched
  };

  Perturbations(strata::internal::Node root, const Filter& filter, GradientTape& tape);

  // Those of a member of a stacked module, which runs on a copy of its own. With a tape, they are the member's own, and
  // the gradients of all members are put together later; without one, they are entries of those of all members.
  struct Member {
    Perturbations& outer;
    const Path* place;  // of the stacked module; null if it is not part of what is differentiated
    Index index;
    Index size;
  };
  Perturbations(strata::internal::Node root, const Member& member, GradientTape* tape);

  [[nodiscard]] const Path* find(strata::internal::Node module) { return paths_.find(module); }

  [[nodiscard]] Tensor perturb(strata::internal::Node module, std::string_view name, const Tensor& x);

  // The zeros at a path, made if there are none. Throws ShapeError if they have another shape or element type.
  Tensor zeros_at(const Path& path, const Shape& shape, DType dtype);

  // Throws FilterError if the filter took nothing.
  void check_taken() const;

  // In the order in which they were first met.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  ModulePaths paths_;
  const Filter& filter_;
  GradientTape* tape_;
  std::optional<Member> member_;
  std::vector<Entry> entries_;
  std::vector<std::string> others_;  // what the filter did not take
};

// The shape of tensors of this shape, stacked along a new leading axis.
[[nodiscard]] Shape stacked_shape(const Shape& shape, Index size);

// For whoever observes.
[[nodiscard]] Tensor perturb(strata::internal::Node layer, std::string_view name, const Tensor& x);

}  // namespace strata::nn::internal
