// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/nn/internal/collector.h"
#include "strata/nn/internal/observers.h"
#include "strata/nn/split.h"
#include "strata/state/internal/node_of.h"

namespace strata::nn {

// One call of a module, as trace_calls saw it.
struct CallRow {
  Path path;                         // of the module
  std::string type;                  // as C++ spells it
  std::vector<std::string> inputs;   // "float32[4, 12]"; of what is no tensor, its type
  std::vector<std::string> outputs;  // the members of a tuple or pair are listed
  Index elements = 0;                // of the variables below the module
  std::size_t bytes = 0;
  Index times = 1;  // equal calls are one row
  bool operator==(const CallRow&) const = default;
};

namespace internal {

template <class T>
void describe_into(std::vector<std::string>& list, const T& value) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    list.push_back(describe(static_cast<const Tensor&>(value)));
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... members) { (describe_into(list, members), ...); }, value);
  } else {
    list.emplace_back(strata::internal::type_name<T>());
  }
}

template <class T>
inline constexpr bool is_tuple_of_results = requires {
  std::tuple_size<T>::value;
};

// The tensors that a call returned.
template <class T>
void add_tensors(std::vector<Tensor>& list, const T& value) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    list.push_back(static_cast<const Tensor&>(value));
  } else if constexpr (is_tuple_of_results<T>) {
    std::apply([&](const auto&... members) { (add_tensors(list, members), ...); }, value);
  }
}

// The calls that are made in this thread while it lives.
class CallTrace {
 public:
  explicit CallTrace(strata::internal::Node root);
  CallTrace(const CallTrace&) = delete;
  CallTrace& operator=(const CallTrace&) = delete;
  ~CallTrace();

  [[nodiscard]] static CallTrace* current() noexcept;

  // A call that begins now; its place in the list.
  std::size_t begin(strata::internal::Node module, std::vector<std::string> inputs);
  void end(std::size_t call, std::vector<std::string> outputs);

  [[nodiscard]] std::vector<CallRow> rows() &&;

 private:
  CallTrace* before_;
  strata::internal::Node root_;
  std::vector<CallRow> calls_;
  std::vector<strata::internal::Node> modules_;
};

}  // namespace internal

// module(arguments...), seen by trace_calls and by nn::capture. Where none is at work, the plain call after a glance at
// thread-local pointers.
template <class M, class... A>
requires std::invocable<M&, A...>
decltype(auto) call(M& module, A&&... arguments) {
  internal::CallTrace* const trace = internal::CallTrace::current();
  internal::Collector* const collector = internal::observers().collector;
  if constexpr (strata::internal::FieldAccess::names_fields<std::remove_const_t<M>> &&
                !std::is_void_v<std::invoke_result_t<M&, A...>>) {
    if (trace != nullptr || collector != nullptr) {
      const strata::internal::Node node = strata::internal::node_of(module);
      std::size_t place = 0;
      if (trace != nullptr) {
        std::vector<std::string> inputs;
        (internal::describe_into(inputs, arguments), ...);
        place = trace->begin(node, std::move(inputs));
      }
      decltype(auto) result = std::invoke(module, std::forward<A>(arguments)...);
      if (trace != nullptr) {
        std::vector<std::string> outputs;
        internal::describe_into(outputs, result);
        trace->end(place, std::move(outputs));
      }
      if (collector != nullptr) {
        std::vector<Tensor> tensors;
        internal::add_tensors(tensors, result);
        collector->output(node, tensors, internal::is_tuple_of_results<std::remove_cvref_t<decltype(result)>>);
      }
      return result;
    }
  }
  return std::invoke(module, std::forward<A>(arguments)...);
}

// What a run of the module calls, a row for each call that is made through nn::call, in the order in which the calls
// begin; the run works on a clone. A module is an ordinary struct, and C++ does not tell when one is called: calls that
// are not written with nn::call leave no row, nor do calls of modules that are no part of this one. `Sequential` calls
// its layers with nn::call.
//
//   nn::trace_calls(model, [&](Model& m) { return nn::call(m, x); });
template <class M, class F>
requires std::invocable<F, M&>
[[nodiscard]] std::vector<CallRow> trace_calls(const M& module, F&& run) {
  M copy = clone(module);
  internal::CallTrace trace(strata::internal::node_of(copy));
  std::invoke(std::forward<F>(run), copy);
  return std::move(trace).rows();
}

// A line for each row: path, type, inputs, outputs, elements, bytes, times.
[[nodiscard]] std::string to_string(std::span<const CallRow> rows);

}  // namespace strata::nn
