// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/transformation.h"

#include <cmath>
#include <string>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/reduce.h"

namespace strata::optim {
namespace {

class Chain final : public Transformation::Rule {
 public:
  explicit Chain(std::vector<Transformation> links) : links_(std::move(links)) {}

  [[nodiscard]] Memory init(std::span<const Tensor> params) const override {
    Memory memory;
    for (const Transformation& link : links_) memory.links.push_back(link.rule().init(params));
    return memory;
  }

  void update(std::span<Tensor> updates, Memory& memory, std::span<const Tensor> params) const override {
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].rule().update(updates, memory.links[i], params);
  }

  // The last link may save a pass.
  void step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const override {
    const std::size_t last = links_.size() - 1;
    for (std::size_t i = 0; i < last; ++i) links_[i].rule().update(gradients, memory.links[i], params);
    links_[last].rule().step(params, std::move(gradients), memory.links[last]);
  }

 private:
  std::vector<Transformation> links_;
};

class ClipByGlobalNorm final : public Transformation::Rule {
 public:
  explicit ClipByGlobalNorm(double max_norm) : max_norm_(max_norm) {}

  [[nodiscard]] Memory init(std::span<const Tensor>) const override { return {}; }

  void update(std::span<Tensor> updates, Memory&, std::span<const Tensor>) const override {
    double squares = 0;
    for (const Tensor& update : updates) squares += sum(square(update.astype(DType::float64))).item<double>();
    const double norm = std::sqrt(squares);
    if (norm < max_norm_) return;
    for (Tensor& update : updates) update = update / norm * max_norm_;
  }

 private:
  double max_norm_;
};

}  // namespace

void Transformation::Rule::step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const {
  update(gradients, memory, params);
  for (std::size_t i = 0; i < params.size(); ++i) params[i] += gradients[i];
}

Transformation chain(std::vector<Transformation> links) {
  if (links.empty()) throw ValueError("[chain] there is no transformation.");
  return Transformation(std::make_shared<Chain>(std::move(links)));
}

Transformation clip_by_global_norm(double max_norm) {
  if (!(max_norm > 0)) {
    throw ValueError("[clip_by_global_norm] max_norm must be positive, got " + std::to_string(max_norm) + ".");
  }
  return Transformation(std::make_shared<ClipByGlobalNorm>(max_norm));
}

}  // namespace strata::optim
