// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "strata/state/internal/node.h"
#include "strata/state/state.h"

namespace strata::internal {

// What a variable is to be like.
struct Form {
  std::span<const Index> sizes;
  DType dtype;
};
inline Form form_of(const Tensor& value) noexcept { return {value.shape().sizes(), value.dtype()}; }

// What the variables of a module are to be like, in the order of a walk: one list of numbers, since a shape for each
// variable would take the memory of the variable.
class Forms {
 public:
  void add(const Form& form) {
    numbers_.push_back(256 * static_cast<Index>(form.sizes.size()) + static_cast<Index>(form.dtype));
    numbers_.insert(numbers_.end(), form.sizes.begin(), form.sizes.end());
  }

  class Reader {
   public:
    explicit Reader(const Forms& forms) : rest_(forms.numbers_) {}
    [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
    Form next() noexcept {
      const auto rank = static_cast<std::size_t>(rest_[0] / 256);
      const Form form{rest_.subspan(1, rank), static_cast<DType>(rest_[0] % 256)};
      rest_ = rest_.subspan(1 + rank);
      return form;
    }

   private:
    std::span<const Index> rest_;
  };

 private:
  std::vector<Index> numbers_;  // for each form 256 times the rank and the element type, then the sizes
};

// Gives the variables below root the values and metadata of the states; later states win, variables that no state has
// stay as they are, and kinds stay. An entry of the root kind, from a file that knows no kinds, changes the value
// alone. Throws StateError that lists all entries that do not fit, in path, shape or element type, before anything is
// changed.
void update_variables(Node root, std::span<const State* const> states);

// The same for a module whose variables are blank: `forms` says in the order of a walk what they are to be like, each
// must be in exactly one state, with the kind that the C++ type of its place fixes; where that leaves the kind open, it
// takes the entry's.
void fill_variables(Node root, const Forms& forms, std::span<const State* const> states);

// Throws StateError that lists all entries of `got` that do not fit `expected` in path, kind, shape or element type.
void check_same_form(const State& expected, const State& got, const char* operation);

}  // namespace strata::internal
