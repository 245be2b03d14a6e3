// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/file.h"

#include "strata/checkpoint/internal/atomic_file.h"
#include "strata/checkpoint/internal/state_reader.h"
#include "strata/checkpoint/internal/state_writer.h"

namespace strata::checkpoint {

void save(const std::string& file, const State& state) {
  internal::AtomicFile output(file, "save");
  internal::write_state(state, "save", [&](std::span<const std::byte> part) { output.write(part); });
  output.commit();
}

State restore(const std::string& file, DopamineOptions options) {
  const std::vector<std::byte> bytes = internal::read_file(file, "restore");
  return internal::read_state(bytes, {.operation = "restore", .file = file}, options);
}

}  // namespace strata::checkpoint
