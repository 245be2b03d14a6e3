// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/zip_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <new>

#include "strata/state/internal/quote.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {
namespace {

// Of zlib's deflate: no byte in an archive inflates to more.
constexpr std::uint64_t most_inflation = 1032;

// The error of a library call; frees what it holds.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_error_fini(&error_); }

  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_{};
};

using ZipFile = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

bool is_readable(const zip_stat_t& status) {
  constexpr zip_uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  return (status.valid & needed) == needed && status.encryption_method == ZIP_EM_NONE &&
         (status.comp_method == ZIP_CM_STORE || status.comp_method == ZIP_CM_DEFLATE);
}

// Writing to memory fails only without memory.
void require(bool done) {
  if (!done) throw std::bad_alloc();
}

std::vector<std::byte> content_of(zip_source_t* source) {
  zip_stat_t status;
  zip_stat_init(&status);
  require(zip_source_stat(source, &status) == 0 && zip_source_open(source) == 0);
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.size));
  const zip_int64_t count = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  require(count == static_cast<zip_int64_t>(bytes.size()));
  return bytes;
}

// The end of a directory without members: libzip writes nothing at all for none.
std::vector<std::byte> empty_archive() {
  constexpr std::size_t size = 22;
  std::vector<std::byte> bytes{std::byte{'P'}, std::byte{'K'}, std::byte{5}, std::byte{6}};
  bytes.resize(size);
  return bytes;
}

void add_member(zip_t* archive, const ZipMember& member, bool deflate) {
  zip_source_t* const content = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
  require(content != nullptr);
  const zip_int64_t added = zip_file_add(archive, member.name.c_str(), content, ZIP_FL_ENC_UTF_8);
  if (added < 0) zip_source_free(content);
  require(added >= 0);
  const auto index = static_cast<zip_uint64_t>(added);
  constexpr zip_uint16_t first_of_1980 = 1U << 5U | 1U;
  require(zip_set_file_compression(archive, index, deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0) == 0);
  require(zip_file_set_dostime(archive, index, 0, first_of_1980, 0) == 0);
}

}  // namespace

ZipReader::ZipReader(std::span<const std::byte> bytes, const Source& source) : source_(source) {
  if (bytes.empty()) source_.fail(0, "expected a zip archive, but the data end here.");  // libzip makes a new one of it
  ZipError error;
  zip_source_t* const buffer = zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  require(buffer != nullptr);
  archive_ = zip_open_from_source(buffer, ZIP_RDONLY, error.get());
  if (archive_ == nullptr) {
    zip_source_free(buffer);
    source_.fail(0, fmt::format("expected a zip archive: {}.", error.text()));
  }
  try {
    list_members(bytes.size());
  } catch (...) {
    zip_discard(archive_);
    throw;
  }
}

ZipReader::~ZipReader() { zip_discard(archive_); }

void ZipReader::list_members(std::uint64_t archive_bytes) {
  const auto count = static_cast<std::uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(archive_, 0)));
  std::uint64_t bytes_left = archive_bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat_index(archive_, i, 0, &status) != 0) fail("", zip_error_strerror(zip_get_error(archive_)));
    const std::string name = (status.valid & ZIP_STAT_NAME) != 0 ? status.name : "";
    if (!is_readable(status)) fail(name, "is neither stored nor deflated, or is encrypted");
    if (status.comp_size > bytes_left) fail(name, "has, with those before it, more bytes than the archive");
    bytes_left -= status.comp_size;
    const std::uint64_t most =
        status.comp_method == ZIP_CM_STORE ? status.comp_size : most_inflation * status.comp_size;
    if (status.size > most)
      fail(name, fmt::format("claims {} bytes, more than its {} can hold", status.size, status.comp_size));
    members_.push_back({i, name, status.size});
  }
}

std::vector<std::byte> ZipReader::read_begin(const Member& member, std::size_t limit) const {
  return read_bytes(member, static_cast<std::size_t>(std::min<std::uint64_t>(member.size, limit)), false);
}

std::vector<std::byte> ZipReader::read(const Member& member) const {
  return read_bytes(member, static_cast<std::size_t>(member.size), true);
}

std::vector<std::byte> ZipReader::read_bytes(const Member& member, std::size_t count, bool to_end) const {
  const ZipFile file(zip_fopen_index(archive_, member.position, 0), &zip_fclose);
  if (!file) fail(member.name, zip_error_strerror(zip_get_error(archive_)));
  std::vector<std::byte> bytes(count);
  const zip_int64_t got = zip_fread(file.get(), bytes.data(), bytes.size());
  if (got < 0) fail(member.name, zip_error_strerror(zip_file_get_error(file.get())));
  if (got != static_cast<zip_int64_t>(count)) fail(member.name, "has fewer bytes than it claims");
  std::byte beyond{};
  // The checksum is looked at when the end is reached.
  if (to_end && zip_fread(file.get(), &beyond, 1) != 0) {
    fail(member.name, zip_error_strerror(zip_file_get_error(file.get())));
  }
  return bytes;
}

void ZipReader::fail(const std::string& name, const std::string& what) const {
  source_.fail(
      0, fmt::format("the member {} of the zip archive: {}.", strata::internal::quote_text(shortened(name)), what));
}

std::vector<std::byte> write_zip(const std::vector<ZipMember>& members, bool deflate) {
  if (members.empty()) return empty_archive();
  ZipError error;
  zip_source_t* const buffer = zip_source_buffer_create(nullptr, 0, 0, error.get());
  require(buffer != nullptr);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> kept(buffer, &zip_source_free);
  zip_source_keep(buffer);  // the archive takes the other reference
  zip_t* const archive = zip_open_from_source(buffer, ZIP_TRUNCATE, error.get());
  if (archive == nullptr) zip_source_free(buffer);
  require(archive != nullptr);
  try {
    for (const ZipMember& member : members) add_member(archive, member, deflate);
    require(zip_close(archive) == 0);
  } catch (...) {
    zip_discard(archive);
    throw;
  }
  return content_of(buffer);
}

}  // namespace strata::checkpoint::internal
