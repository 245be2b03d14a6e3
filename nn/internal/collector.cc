// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/collector.h"

#include <string>
#include <utility>

#include "strata/state/internal/listing.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {

using strata::internal::Node;

namespace {

// What flax.nnx records results of calls under; no C++ field may have this name.
constexpr std::string_view output_name = "__call__";

const char* name_of(Collector::Form form) { return form == Collector::Form::perturbation ? "perturb" : "sow"; }

std::string way_text(Collector::Form form, const Kind& kind) {
  const std::string name(kind.name);
  switch (form) {
    case Collector::Form::list:
      return "a list of " + name;
    case Collector::Form::reduced:
      return "one " + name;
    case Collector::Form::perturbation:
      return "a perturbation";
    default:
      return "results of calls";
  }
}

bool same_form(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && a.dtype() == b.dtype(); }

void check_perturbed(const Path& path, const Tensor& perturbation, const Tensor& x) {
  if (same_form(perturbation, x)) return;
  throw ShapeError("[perturb] " + to_string(path) + " is " + describe(x) + " and its perturbation " +
                   describe(perturbation) + ". Values of one name have one shape and element type.");
}

}  // namespace

Collector::Collector(Node root, const Settings& settings) : paths_(root), settings_(settings) {}

Collector::Collector(Node root, const Member& member)
    : paths_(root), settings_(member.outer.settings_), member_(member) {}

bool Collector::keeps(const Path& path, const Kind& kind, const Tensor& value) const {
  return settings_.filter(path, Variable(kind, value));
}

Collector::Record& Collector::record(Node module, std::string_view name, const Kind& kind, Form form, Path& path) {
  path = paths_.of_name(module, name, name_of(form));
  if (member_) {
    if (member_->place == nullptr) {
      throw StateError("[" + std::string(name_of(form)) + "] " + to_string(path) +
                       " comes from members of a stacked module that is not part of the module that runs.");
    }
    path = *member_->place / path;
  }
  const auto [place, is_new] = records_.try_emplace(path, Record{&kind, form});
  Record& found = place->second;
  if (found.form != form || found.kind != &kind) {
    throw StateError("[" + std::string(name_of(form)) + "] " + to_string(path) + " is handed out in two ways: as " +
                     way_text(found.form, *found.kind) + " and as " + way_text(form, kind) + ". Use two names.");
  }
  ++found.calls;
  return found;
}

void Collector::sow(Node module, std::string_view name, const Kind& kind, const Tensor& value) {
  Path path;
  Record& list = record(module, name, kind, Form::list, path);
  if (keeps(path / Key(list.calls - 1), kind, value)) list.items.push_back({list.calls - 1, {}, value});
}

void Collector::sow(Node module, std::string_view name, const Kind& kind, const Tensor& value, const Reduce& reduce,
                    const Tensor* init) {
  Path path;
  Record& one = record(module, name, kind, Form::reduced, path);
  if (one.items.empty()) {
    one.items.push_back({0, {}, init == nullptr ? value : reduce(*init, value)});
  } else {
    one.items.front().value = reduce(one.items.front().value, value);
  }
}

std::optional<Tensor> Collector::given(const Path& path) const {
  if (!member_) {
    const Variable* found = settings_.perturbations.find(path);
    return found == nullptr ? std::nullopt : std::optional<Tensor>(found->value());
  }
  std::optional<Tensor> of_all = member_->outer.given(path);
  if (!of_all) return of_all;
  if (of_all->rank() == 0 || of_all->shape()[0] != member_->size) {
    throw ShapeError("[perturb] the perturbation of " + to_string(path) + " is " + describe(*of_all) + "; it takes " +
                     std::to_string(member_->size) + " members along its leading axis.");
  }
  return (*of_all)[member_->index];
}

Tensor Collector::perturb(Node module, std::string_view name, const Tensor& x) {
  Path path;
  Record& one = record(module, name, kind_of<Perturbation>(), Form::perturbation, path);
  const std::optional<Tensor> added = given(path);
  if (one.items.empty()) one.items.push_back({0, {}, added ? *added : zeros(x.shape(), x.dtype())});
  check_perturbed(path, one.items.front().value, x);
  return added ? x + *added : x;
}

void Collector::output(Node module, const std::vector<Tensor>& tensors, bool is_tuple) {
  if (settings_.outputs_of == nullptr) return;
  const Path* place = paths_.find(module);
  if (place == nullptr || (member_ && member_->place == nullptr)) return;
  const Path whole = member_ ? *member_->place / *place : *place;
  if (!(*settings_.outputs_of)(GraphNode(whole, module))) return;
  Path path;
  Record& list = record(module, output_name, kind_of<Intermediate>(), Form::outputs, path);
  const Path call = path / Key(list.calls - 1);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto part = static_cast<Index>(i);
    if (!keeps(is_tuple ? call / Key(part) : call, *list.kind, tensors[i])) continue;
    list.items.push_back({list.calls - 1, is_tuple ? std::optional<Index>(part) : std::nullopt, tensors[i]});
  }
}

State Collector::state() && {
  std::vector<std::string> unused;
  for (const auto& [path, variable] : settings_.perturbations) {
    const auto place = records_.find(path);
    if (place == records_.end() || place->second.form != Form::perturbation) unused.push_back(to_string(path));
  }
  if (!unused.empty()) {
    throw StateError("[capture] perturbations were given that nothing in the run asks for: " +
                     strata::internal::list_offenders(unused) + ". Their paths are those of a run without them.");
  }
  std::vector<State::Entry> entries;
  for (auto& [path, record] : records_) {
    const bool is_list = record.form == Form::list || record.form == Form::outputs;
    for (Item& item : record.items) {
      if (!is_list && !keeps(path, *record.kind, item.value)) continue;
      Path place = is_list ? path / Key(item.call) : path;
      if (item.part) place = place / Key(*item.part);
      entries.push_back({std::move(place), Variable(*record.kind, std::move(item.value))});
    }
  }
  return State(std::move(entries));
}

void Collector::add(Records stacked) {
  for (auto& [path, more] : stacked) {
    const auto [place, is_new] = records_.try_emplace(path, more);
    if (is_new) continue;
    Record& found = place->second;
    if (found.form == Form::reduced) {
      throw StateError("[sow] " + to_string(path) +
                       " is one value for all calls, and members of a stacked module that is called several times "
                       "hand it out. Sow a list there.");
    }
    if (found.form == Form::perturbation) {
      check_perturbed(path, found.items.front().value, more.items.front().value);
      continue;
    }
    for (Item& item : more.items) {
      item.call += found.calls;
      found.items.push_back(std::move(item));
    }
    found.calls += more.calls;
  }
}

}  // namespace strata::nn::internal
