// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/checkpoint/internal/source.h"

struct zip;

namespace strata::checkpoint::internal {

// A zip archive in memory, for reading. Views the bytes. Every function throws FormatError for what is damaged.
//
// No member may claim to hold more than its bytes in the archive can inflate to, nor may all together have more bytes
// than the archive.
class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, const Source& source);
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;
  ~ZipReader();

  struct Member {
    std::uint64_t position;
    std::string name;  // UTF-8
    std::uint64_t size;
  };

  // In the order of the directory at the archive's end.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

  // The first bytes of a member, at most `limit`, and all of it; the latter are known to have the right checksum.
  [[nodiscard]] std::vector<std::byte> read_begin(const Member& member, std::size_t limit) const;
  [[nodiscard]] std::vector<std::byte> read(const Member& member) const;

 private:
  void list_members(std::uint64_t archive_bytes);
  [[nodiscard]] std::vector<std::byte> read_bytes(const Member& member, std::size_t count, bool to_end) const;
  [[noreturn]] void fail(const std::string& name, const std::string& what) const;

  const Source& source_;
  zip* archive_ = nullptr;
  std::vector<Member> members_;
};

// What a member to be written holds; none of them has a date.
struct ZipMember {
  std::string name;  // UTF-8
  std::vector<std::byte> bytes;
};

// The archive of these members, stored or deflated.
[[nodiscard]] std::vector<std::byte> write_zip(const std::vector<ZipMember>& members, bool deflate);

}  // namespace strata::checkpoint::internal
