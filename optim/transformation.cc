// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/transformation.h"

#include <algorithm>
#include <cmath>

#include "strata/optim/internal/checks.h"
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
    std::vector<Memory> before = run_but_last(updates, memory, params);
    links_.back().rule().update(updates, memory.links.back(), params);
    replace_but_last(memory, std::move(before));
  }

  // The last link may save a pass.
  void step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const override {
    std::vector<Memory> before = run_but_last(gradients, memory, params);
    links_.back().rule().step(params, std::move(gradients), memory.links.back());
    replace_but_last(memory, std::move(before));
  }

  [[nodiscard]] bool writes_last() const override { return links_.back().rule().writes_last(); }

 private:
  // The memories that these links have afterwards: a later link may throw.
  std::vector<Memory> run_but_last(std::span<Tensor> updates, const Memory& memory,
                                   std::span<const Tensor> params) const {
    std::vector<Memory> next(memory.links.begin(), memory.links.end() - 1);
    for (std::size_t i = 0; i < next.size(); ++i) links_[i].rule().update(updates, next[i], params);
    return next;
  }

  static void replace_but_last(Memory& memory, std::vector<Memory> next) noexcept {
    std::move(next.begin(), next.end(), memory.links.begin());
  }

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

  [[nodiscard]] bool writes_last() const override { return true; }

 private:
  double max_norm_;
};

}  // namespace

Transformation::Transformation(std::shared_ptr<const Rule> rule) : rule_(std::move(rule)) {
  if (rule_ == nullptr) throw ValueError("[Transformation] there is no rule: the pointer is null.");
}

void Transformation::Rule::step(std::span<Tensor> params, std::vector<Tensor> gradients, Memory& memory) const {
  update(gradients, memory, params);
  for (std::size_t i = 0; i < params.size(); ++i) params[i] += gradients[i];
}

Transformation chain(std::vector<Transformation> links) {
  if (links.empty()) throw ValueError("[chain] there is no transformation.");
  return Transformation(std::make_shared<Chain>(std::move(links)));
}

Transformation clip_by_global_norm(double max_norm) {
  internal::check_positive("clip_by_global_norm", "max_norm", max_norm);
  return Transformation(std::make_shared<ClipByGlobalNorm>(max_norm));
}

}  // namespace strata::optim
