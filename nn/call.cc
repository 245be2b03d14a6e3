// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/call.h"

#include <algorithm>

#include "strata/nn/internal/columns.h"
#include "strata/nn/internal/module_paths.h"
#include "strata/nn/internal/short_type.h"
#include "strata/nn/table.h"

namespace strata::nn {
namespace internal {
namespace {

using strata::internal::Node;

thread_local CallTrace* current_trace = nullptr;

}  // namespace

CallTrace::CallTrace(Node root) : before_(current_trace), root_(root) { current_trace = this; }

CallTrace::~CallTrace() { current_trace = before_; }

CallTrace* CallTrace::current() noexcept { return current_trace; }

std::size_t CallTrace::begin(Node module, std::vector<std::string> inputs) {
  modules_.push_back(module);
  calls_.push_back({{}, std::string(module.type->name), std::move(inputs), {}});
  return calls_.size() - 1;
}

void CallTrace::end(std::size_t call, std::vector<std::string> outputs) { calls_[call].outputs = std::move(outputs); }

std::vector<CallRow> CallTrace::rows() && {
  ModulePaths places(root_);
  std::vector<CallRow> result;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Path* const place = places.find(modules_[i]);
    if (place == nullptr) continue;
    CallRow& row = calls_[i];
    row.path = *place;
    const State below = strata::internal::state_of(modules_[i]);
    row.elements = below.num_elements();
    row.bytes = below.num_bytes();
    const auto equal = std::find_if(result.begin(), result.end(), [&](const CallRow& other) {
      return other.path == row.path && other.inputs == row.inputs && other.outputs == row.outputs;
    });
    if (equal == result.end()) {
      result.push_back(std::move(row));
    } else {
      ++equal->times;
    }
  }
  return result;
}

namespace {

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + short_type(item);
  return text;
}

}  // namespace
}  // namespace internal

std::string to_string(std::span<const CallRow> rows) {
  using internal::Align;
  internal::Columns columns(
      {Align::left, Align::left, Align::left, Align::left, Align::right, Align::right, Align::right});
  columns.add({"path", "type", "inputs", "outputs", "elements", "bytes", "times"});
  for (const CallRow& row : rows) {
    columns.add({internal::short_text(row.path), internal::short_type(row.type), internal::list_text(row.inputs),
                 internal::list_text(row.outputs), std::to_string(row.elements), byte_text(row.bytes),
                 std::to_string(row.times)});
  }
  return columns.text();
}

}  // namespace strata::nn
