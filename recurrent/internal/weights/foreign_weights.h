// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "strata/state/path.h"
#include "strata/state/state.h"
#include "strata/tensor/tensor.h"

namespace strata::recurrent::internal {

// The weights of one layer as they are read: which of them were of use, and all that is wrong with them.
class ForeignWeights {
 public:
  // `entries` have paths below the prefix, which is only for messages.
  ForeignWeights(State entries, Path prefix, bool cast);

  [[nodiscard]] const State& entries() const { return entries_; }
  [[nodiscard]] bool contains(const Path& path) const { return entries_.contains(path); }

  // What an array is to be like; `meaning` says why: "gates i, f, g, o".
  struct Form {
    Shape shape;
    DType dtype;
    std::string meaning = {};
  };

  // The array at the path, which counts as used. One that is missing or different is noted, and zeros take its place.
  [[nodiscard]] Tensor take(const Path& path, const Form& form);

  // The array at the path whatever it is like, or null; counts as used.
  [[nodiscard]] const Tensor* take_any(const Path& path);

  // Notes what the cell cannot do; `what` is a clause.
  void refuse(const std::string& what);
  void refuse(const Path& path, const std::string& what);

  // Throws StateError that lists what was noted, and the entries that were of no use.
  void finish(const std::string& description) const;

 private:
  [[nodiscard]] std::string shown(const Path& path) const;

  State entries_;
  Path prefix_;
  bool cast_;
  std::vector<Path> used_;
  std::vector<std::string> missing_;
  std::vector<std::string> different_;
  std::vector<std::string> refused_;
};

}  // namespace strata::recurrent::internal
