// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/perturbations.h"

#include <algorithm>
#include <string>

#include "strata/nn/internal/collector.h"
#include "strata/nn/internal/observers.h"
#include "strata/state/internal/listing.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {

using strata::internal::Node;

Perturbations::Perturbations(Node root, const Filter& filter, GradientTape& tape)
    : paths_(root), filter_(filter), tape_(&tape) {}

Perturbations::Perturbations(Node root, const Member& member, GradientTape* tape)
    : paths_(root), filter_(member.outer.filter_), tape_(tape), member_(member) {}

Shape stacked_shape(const Shape& shape, Index size) {
  std::vector<Index> sizes{size};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return Shape(sizes);
}

Tensor Perturbations::zeros_at(const Path& path, const Shape& shape, DType dtype) {
  if (tape_ == nullptr) {
    return member_->outer.zeros_at(path, stacked_shape(shape, member_->size), dtype)[member_->index];
  }
  const auto place =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.path == path; });
  if (place == entries_.end()) {
    entries_.push_back({path, tape_->watch(zeros(shape, dtype))});
    return entries_.back().zeros;
  }
  if (place->zeros.shape() == shape && place->zeros.dtype() == dtype) return place->zeros;
  throw ShapeError("[perturb] " + to_string(path) + " was " + describe(place->zeros) + " and is " +
                   describe(zeros(shape, dtype)) + ". Values of one name have one shape and element type.");
}

Tensor Perturbations::perturb(Node module, std::string_view name, const Tensor& x) {
  Path path = paths_.of_name(module, name, "perturb");
  if (member_ && member_->place == nullptr) {
    throw StateError("[perturb] " + to_string(path) +
                     " comes from members of a stacked module that is not part of the module that runs.");
  }
  if (member_) path = *member_->place / path;
  if (!filter_(path, Perturbation(x))) {
    others_.push_back(to_string(path));
    return x;
  }
  if (!is_floating(x.dtype())) {
    throw DTypeError("[perturb] " + to_string(path) + " (" + describe(x) +
                     ") is not floating and has no gradient. Leave it out of the filter.");
  }
  // x + 0, less the addition.
  const Tensor zeros = zeros_at(path, x.shape(), x.dtype());
  return differentiable(x, {x, zeros}, [](const Tensor& dy) { return std::vector<Cotangent>{dy, dy}; });
}

void Perturbations::check_taken() const {
  if (!entries_.empty()) return;
  throw FilterError("[value_and_grad] the filter `" + to_string(filter_) + "` takes no perturbation. " +
                    (others_.empty() ? "The loss calls no layer that names one by nn::perturb."
                                     : "There are: " + strata::internal::list_offenders(others_) + "."));
}

Tensor perturb(Node layer, std::string_view name, const Tensor& x) {
  const Observers& now = observers();
  Tensor y = x;
  if (now.perturbations != nullptr) y = now.perturbations->perturb(layer, name, y);
  if (now.collector != nullptr) y = now.collector->perturb(layer, name, y);
  return y;
}

}  // namespace strata::nn::internal
