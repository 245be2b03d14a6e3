// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/member_observers.h"

#include <algorithm>
#include <utility>

#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;

bool same_items(const Collector::Record& a, const Collector::Record& b) {
  const auto same = [](const Collector::Item& x, const Collector::Item& y) {
    return x.call == y.call && x.part == y.part;
  };
  return a.kind == b.kind && a.form == b.form && a.calls == b.calls &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same);
}

bool same_records(const Collector::Records& a, const Collector::Records& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && same_items(x.second, y.second); });
}

bool same_paths(const std::optional<Perturbations>& a, const std::optional<Perturbations>& b) {
  if (!a) return true;
  return std::equal(a->entries().begin(), a->entries().end(), b->entries().begin(), b->entries().end(),
                    [](const auto& x, const auto& y) { return x.path == y.path; });
}

}  // namespace

MemberObservers::MemberObservers(Node owner, Index size)
    : outer_(observers()), members_(static_cast<std::size_t>(size)) {
  if (outer_.collector != nullptr) collected_at_ = outer_.collector->find(owner);
  if (outer_.perturbations != nullptr) perturbed_at_ = outer_.perturbations->find(owner);
}

void MemberObservers::begin(Index member, Node module, GradientTape* tape) {
  Member& state = members_[static_cast<std::size_t>(member)];
  const auto size = static_cast<Index>(members_.size());
  Observers now;
  if (outer_.collector != nullptr) {
    now.collector = &state.collector.emplace(module, Collector::Member{*outer_.collector, collected_at_, member, size});
  }
  if (outer_.perturbations != nullptr) {
    now.perturbations = &state.perturbations.emplace(
        module, Perturbations::Member{*outer_.perturbations, perturbed_at_, member, size}, tape);
  }
  set_observers(now);
}

std::vector<Tensor> MemberObservers::end(Index member) {
  Member& state = members_[static_cast<std::size_t>(member)];
  std::vector<Tensor> tensors;
  if (!state.collector) return tensors;
  state.records = std::move(*state.collector).records();
  for (const auto& [path, record] : state.records) {
    for (const Collector::Item& item : record.items) tensors.push_back(item.value);
  }
  return tensors;
}

void MemberObservers::check_alike() const {
  for (std::size_t i = 1; i < members_.size(); ++i) {
    if (same_records(members_.front().records, members_[i].records) &&
        same_paths(members_.front().perturbations, members_[i].perturbations)) {
      continue;
    }
    throw StateError("[capture] member " + std::to_string(i) +
                     " of a stacked module sows or perturbs other names than the first one, or more or less often. "
                     "Values of members are stacked, so that each must hand out the same.");
  }
}

std::vector<std::string> MemberObservers::names() const {
  std::vector<std::string> names;
  for (const auto& [path, record] : members_.front().records) {
    names.insert(names.end(), record.items.size(), to_string(path));
  }
  return names;
}

void MemberObservers::hand_on(std::vector<Tensor> stacked) {
  if (outer_.collector == nullptr) return;
  auto next = stacked.begin();
  Collector::Records records = std::move(members_.front().records);
  for (auto& [path, record] : records) {
    for (Collector::Item& item : record.items) item.value = std::move(*next++);
  }
  outer_.collector->add(std::move(records));
}

std::vector<Tensor> MemberObservers::zeros_of(Index member) const {
  std::vector<Tensor> zeros;
  const std::optional<Perturbations>& of_member = members_[static_cast<std::size_t>(member)].perturbations;
  if (!of_member) return zeros;
  for (const Perturbations::Entry& entry : of_member->entries()) zeros.push_back(entry.zeros);
  return zeros;
}

std::vector<Tensor> MemberObservers::zeros_of_all() const {
  std::vector<Tensor> zeros;
  if (!members_.front().perturbations) return zeros;
  for (const auto& [path, of_first] : members_.front().perturbations->entries()) {
    const Shape shape = stacked_shape(of_first.shape(), static_cast<Index>(members_.size()));
    zeros.push_back(outer_.perturbations->zeros_at(path, shape, of_first.dtype()));
  }
  return zeros;
}

}  // namespace strata::nn::internal
