// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "strata/state/path.h"
#include "strata/state/variable.h"

namespace strata {

namespace internal {
struct StateAccess;
}  // namespace internal

// Variables by their paths, in the order of the paths. A value: it holds the tensors that a module had when it was
// taken, and writing to it never changes the module. The one currency of splits, gradients, optimizers and checkpoints.
//
// The paths form a tree: none continues another.
class State {
 public:
  struct Entry {
    Path path;
    Variable variable;
    bool operator==(const Entry&) const = default;
  };

  State() = default;

  // Throws StateError that lists paths given twice and paths that continue another.
  explicit State(std::vector<Entry> entries);
  State(std::initializer_list<Entry> entries);

  [[nodiscard]] Index size() const noexcept { return static_cast<Index>(entries_.size()); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  // The variable at the path, or null.
  [[nodiscard]] const Variable* find(const Path& path) const& noexcept;
  [[nodiscard]] Variable* find(const Path& path) & noexcept;
  const Variable* find(const Path& path) && = delete;  // the variable may die with the temporary
  [[nodiscard]] bool contains(const Path& path) const noexcept { return find(path) != nullptr; }

  // The variable at the path. Throws StateError if there is none.
  [[nodiscard]] const Variable& at(const Path& path) const&;
  [[nodiscard]] Variable& at(const Path& path) &;
  [[nodiscard]] Variable at(const Path& path) && { return std::move(at(path)); }

  // Puts the variable at the path, in place of one that is there.
  // Throws StateError if the path continues another one, or another one continues it.
  void set(const Path& path, Variable variable);

  // Removes the variable at the path; returns whether there was one.
  bool erase(const Path& path);

  // Elements of all tensors, and their bytes.
  [[nodiscard]] Index num_elements() const noexcept;
  [[nodiscard]] std::size_t num_bytes() const noexcept;

  // Equal paths, and equal variables.
  friend bool operator==(const State& a, const State& b);

 private:
  friend struct internal::StateAccess;

  [[nodiscard]] std::vector<Entry>::const_iterator lower_bound(const Path& path) const noexcept;
  void check_neighbours(std::vector<Entry>::const_iterator place, const Path& path) const;

  std::vector<Entry> entries_;
};

// One line for each variable: path, kind, element type and shape, tag.
std::string to_string(const State& state);
std::ostream& operator<<(std::ostream& out, const State& state);

}  // namespace strata
