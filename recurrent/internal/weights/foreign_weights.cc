// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/weights/foreign_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/state/internal/listing.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::recurrent::internal {

ForeignWeights::ForeignWeights(State entries, Path prefix, bool cast)
    : entries_(std::move(entries)), prefix_(std::move(prefix)), cast_(cast) {}

Tensor ForeignWeights::take(const Path& path, const Form& form) {
  const Tensor* const found = take_any(path);
  if (found == nullptr) {
    missing_.push_back(shown(path));
    return zeros(form.shape, form.dtype);
  }
  const bool fitting_type = found->dtype() == form.dtype || (cast_ && is_floating(found->dtype()));
  if (found->shape() == form.shape && fitting_type) return found->astype(form.dtype);
  const std::string why = form.meaning.empty() ? "" : ": " + form.meaning;
  different_.push_back(fmt::format("{} (expected {}{}{}, got {})", shown(path), name(form.dtype),
                                   strata::to_string(form.shape), why, describe(*found)));
  return zeros(form.shape, form.dtype);
}

const Tensor* ForeignWeights::take_any(const Path& path) {
  const Variable* const found = entries_.find(path);
  if (found == nullptr) return nullptr;
  used_.push_back(path);
  return &found->value();
}

void ForeignWeights::refuse(const std::string& what) { refused_.push_back(what); }

void ForeignWeights::refuse(const Path& path, const std::string& what) {
  refused_.push_back(fmt::format("{} ({})", shown(path), what));
}

void ForeignWeights::finish(const std::string& description) const {
  std::vector<std::string> unused;
  for (const auto& [path, variable] : entries_) {
    if (std::find(used_.begin(), used_.end(), path) == used_.end()) unused.push_back(shown(path));
  }
  std::string parts;
  const auto add = [&](std::string_view what, const std::vector<std::string>& offenders) {
    if (!offenders.empty()) parts += fmt::format(" {}: {}.", what, strata::internal::list_offenders(offenders));
  };
  add("Refused", refused_);
  add("Missing", missing_);
  add("Unused", unused);
  add("Different", different_);
  if (parts.empty()) return;
  throw StateError(fmt::format("[load_weights] the weights do not fit {}.{} Nothing was changed.", description, parts));
}

std::string ForeignWeights::shown(const Path& path) const { return strata::internal::shown(prefix_ / path); }

}  // namespace strata::recurrent::internal
