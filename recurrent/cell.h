// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "strata/state/fields.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/tensor.h"

// A recurrent cell is any type that takes a carry and an input to a new carry and an output:
//
//   struct MyCell {
//     struct Carry { Tensor h; STRATA_FIELDS(h) };   // tensors, and structs of them, by name
//     static constexpr int num_feature_axes = 1;     // how many of an input's last axes are features, not batch
//     rnn::Step<Carry> operator()(const Carry& carry, const Tensor& x);
//     // For inputs of shape [*batch, features]; may be left out if callers pass a carry.
//     Carry initial_carry(const Shape& input) const;
//   };
//
// The new carry has the shapes and element types of the old one, and y has the batch axes of x. A cell that changes
// itself when it is called (by dropout, batch statistics) has an operator() that is not const.
//
// `RNN` and `Bidirectional` run any cell over a sequence.
namespace strata::recurrent {

// An elementwise function of a cell, such as strata::sigmoid. A plain function, so that cells can be compared.
using Activation = Tensor (*)(const Tensor&);

// What a cell returns: the carry for the next step, and the output of this one.
template <class Carry>
struct Step {
  Carry carry;
  Tensor y;
};

template <class C>
concept Cell = requires(C& cell, const typename C::Carry& carry, const Tensor& x) {
  { cell(carry, x) } -> std::same_as<Step<typename C::Carry>>;
  { C::num_feature_axes } -> std::convertible_to<int>;
};

// A cell that knows the carry to begin with.
template <class C>
concept SelfStartingCell = Cell<C> && requires(const C& cell, const Shape& input) {
  { cell.initial_carry(input) } -> std::same_as<typename C::Carry>;
};

namespace internal {

// Calls f(name, tensor, same...) for every tensor of a carry, with that tensor of other carries of its type. The name
// leads to it: "c", or "lstm.h" in a nested carry.
template <class F, class Part, class... Same>
void for_each_tensor(F&& f, const std::string& name, Part& part, Same&... same) {
  if constexpr (std::is_same_v<std::remove_const_t<Part>, Tensor>) {
    f(name, part, same...);
  } else {
    static_assert(Module<std::remove_const_t<Part>>,
                  "a carry is a struct with STRATA_FIELDS of tensors and of such structs");
    strata::internal::FieldAccess::each_together(
        [&](std::string_view field, auto&... members) {
          for_each_tensor(f, (name.empty() ? name : name + ".") + std::string(field), members...);
        },
        part, same...);
  }
}

}  // namespace internal
}  // namespace strata::recurrent
