// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/checkpoint/flat_names.h"
#include "strata/checkpoint/internal/source.h"
#include "strata/state/state.h"

namespace strata::checkpoint::internal {

// The names of the state's variables, in its order. Throws StateError that lists paths whose names would not be read
// back as they are: with a text key that holds the separator, is made like an integer, or is not UTF-8, or without
// keys.
[[nodiscard]] std::vector<std::string> flat_names(const State& state, const FlatNameOptions& options,
                                                  const std::string& operation);

// Collects the tensors of a file to a state. Paths take more memory than the names they come from; it is counted, and
// what is out of proportion to the file is a FormatError.
class FlatStateBuilder {
 public:
  FlatStateBuilder(const Source& source, const FlatNameOptions& options, std::size_t bytes_read);

  // `offset` is where the file names the tensor.
  void add(std::string_view name, Tensor value, std::uint64_t offset);

  // Throws FormatError if a name occurs twice or continues another.
  [[nodiscard]] State finish() &&;

 private:
  const Source& source_;
  const FlatNameOptions& options_;
  std::size_t memory_left_;
  std::vector<State::Entry> entries_;
};

}  // namespace strata::checkpoint::internal
