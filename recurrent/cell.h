// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "strata/recurrent/internal/scan/carry_check.h"
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
// A carry, and each part of it, may also be a std::vector, std::array or std::optional of carries. The new carry has
// the shapes and element types of the old one, and y has the batch axes of x. A cell that changes itself when it is
// called (by dropout, batch statistics) has an operator() that is not const.
//
// What a cell fixes for a whole sequence, such as a mask of dropout, it makes at the sequence's beginning; the cell
// itself keeps nothing of it:
//
//     // Built like a carry: its tensors are [*batch, ...].
//     struct Sequence { std::optional<Tensor> mask; STRATA_FIELDS(mask) };
//     Sequence begin_sequence(const Carry& initial, const Shape& input);  // of inputs [*batch, *features]
//     rnn::Step<Carry> operator()(const Carry& carry, const Tensor& x, const Sequence& sequence);
//
// Such a cell's operator() without a sequence takes a sequence of one step. Who runs any cell step by step calls the
// functions `begin_sequence` and `step` below, as `scan` does; a cell that wraps cells hands their sequences through.
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

// A cell that fixes something for a whole sequence.
template <class C>
concept SequenceCell = Cell<C> && requires(C& cell, std::remove_const_t<C>& changing, const typename C::Carry& carry,
                                           const Tensor& x, const typename C::Sequence& sequence) {
  { changing.begin_sequence(carry, x.shape()) } -> std::same_as<typename C::Sequence>;
  { cell(carry, x, sequence) } -> std::same_as<Step<typename C::Carry>>;
};

// A cell whose h can be replaced where it enters the products with recurrent kernels, and only there: what a
// RecurrentDropout needs.
template <class C>
concept RecurrentProductCell = Cell<C> && requires(C& cell, const typename C::Carry& carry, const Tensor& x) {
  { cell.step_with_h(carry, x, carry.h) } -> std::same_as<Step<typename C::Carry>>;
};

// What a cell that fixes nothing fixes for a sequence.
struct NoSequence {
  STRATA_FIELDS()
};

namespace internal {

template <class C>
struct SequenceType : std::type_identity<NoSequence> {};
template <SequenceCell C>
struct SequenceType<C> : std::type_identity<typename C::Sequence> {};

}  // namespace internal

template <Cell C>
using SequenceOf = typename internal::SequenceType<C>::type;

// Begins a sequence of inputs of shape [*batch, *features]: draws what holds for all of its steps.
template <Cell C>
[[nodiscard]] SequenceOf<C> begin_sequence(C& cell, const typename C::Carry& initial, const Shape& input) {
  if constexpr (SequenceCell<C>) {
    return cell.begin_sequence(initial, input);
  } else {
    return {};
  }
}

// One step of a sequence that was begun.
template <Cell C>
[[nodiscard]] Step<typename C::Carry> step(C& cell, const typename C::Carry& carry, const Tensor& x,
                                           const SequenceOf<C>& sequence) {
  if constexpr (SequenceCell<C>) {
    return cell(carry, x, sequence);
  } else {
    return cell(carry, x);
  }
}

namespace internal {

template <class T>
struct IsList : std::false_type {};
template <class T, class Allocator>
struct IsList<std::vector<T, Allocator>> : std::true_type {};
template <class T, std::size_t N>
struct IsList<std::array<T, N>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Calls f(name, tensor, same...) for every tensor of a carry, with that tensor of other carries of its type. The name
// leads to it: "c", or "lstm.h", "0.h" in a nested carry. Throws ShapeError if lists in them are of other lengths: as
// f says, if f is a CarryCheck.
template <class F, class Part, class... Same>
void for_each_tensor(F&& f, const std::string& name, Part& part, Same&... same) {
  const auto below = [&](std::string_view key) { return (name.empty() ? name : name + ".") + std::string(key); };
  const auto check_num_entries = [&](std::size_t got, std::size_t expected) {
    if constexpr (std::is_same_v<std::remove_cvref_t<F>, CarryCheck>) {
      f.check_num_entries(name, got, expected);
    } else {
      CarryCheck{"scan", "carry"}.check_num_entries(name, got, expected);
    }
  };
  if constexpr (std::is_same_v<std::remove_const_t<Part>, Tensor>) {
    f(name, part, same...);
  } else if constexpr (IsList<std::remove_const_t<Part>>::value) {
    (check_num_entries(part.size(), same.size()), ...);
    for (std::size_t i = 0; i < part.size(); ++i) for_each_tensor(f, below(std::to_string(i)), part[i], same[i]...);
  } else if constexpr (IsOptional<std::remove_const_t<Part>>::value) {
    (check_num_entries(part.has_value(), same.has_value()), ...);
    if (part) for_each_tensor(f, name, *part, *same...);
  } else {
    static_assert(Module<std::remove_const_t<Part>>,
                  "a carry is a struct with STRATA_FIELDS of tensors and of such structs, or a list of these");
    strata::internal::FieldAccess::each_together(
        [&](std::string_view field, auto&... members) { for_each_tensor(f, below(field), members...); }, part, same...);
  }
}

// True if two carries have lists of the same lengths and tensors of the same shapes and element types. Unlike a
// CarryCheck it makes no names, and so allocates nothing.
template <class Part>
bool same_form(const Part& a, const Part& b) {
  if constexpr (std::is_same_v<Part, Tensor>) {
    return a.shape() == b.shape() && a.dtype() == b.dtype();
  } else if constexpr (IsList<Part>::value) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same_form(x, y); });
  } else if constexpr (IsOptional<Part>::value) {
    return a.has_value() == b.has_value() && (!a || same_form(*a, *b));
  } else {
    bool same = true;
    strata::internal::FieldAccess::each_together(
        [&](std::string_view, const auto& x, const auto& y) { same = same && same_form(x, y); }, a, b);
    return same;
  }
}

}  // namespace internal
}  // namespace strata::recurrent
