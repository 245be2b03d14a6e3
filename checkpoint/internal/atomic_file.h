// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace strata::checkpoint::internal {

// A file that appears under its name whole or not at all. Written under a temporary name in the same folder; unless it
// is committed, that file goes away with this object. Every function throws IoError if the system refuses.
class AtomicFile {
 public:
  AtomicFile(std::string name, std::string operation);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);

  // Brings everything to the disk and gives the file its name.
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string name_;
  std::string operation_;
  std::string temporary_name_;
  std::FILE* stream_ = nullptr;
};

// All bytes of a file. Throws IoError.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& name, const std::string& operation);

}  // namespace strata::checkpoint::internal
