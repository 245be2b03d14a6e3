// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {
namespace {

[[noreturn]] void throw_io_error(const std::string& operation, const std::string& name, const char* action, int error) {
  throw IoError(
      fmt::format("[{}] {}: cannot {}: {}.", operation, name, action, std::generic_category().message(error)));
}

void check_name(const std::string& operation, const std::string& name) {
  if (name.find('\0') != std::string::npos) throw_io_error(operation, name.c_str(), "take a name with a NUL", EINVAL);
}

// With the slash behind it; empty for names in the current folder.
std::string folder_of(const std::string& name) { return name.substr(0, name.find_last_of('/') + 1); }

// A new file with the permissions that any new file gets. Empty, with errno set, if the system refuses.
std::FILE* create_in(const std::string& folder, std::string& name) {
  std::random_device random;
  int descriptor = -1;
  do {
    name = fmt::format("{}.strata-{:08x}.tmp", folder, random());
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor == -1 && errno == EEXIST);
  if (descriptor == -1) return nullptr;
  std::FILE* stream = ::fdopen(descriptor, "wb");
  if (stream == nullptr) {
    const int error = errno;
    ::close(descriptor);
    ::unlink(name.c_str());
    errno = error;
  }
  return stream;
}

// After a rename: without it the old file could be back after a power cut. Not all file systems can.
void sync_folder(const std::string& folder) noexcept {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor == -1) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

AtomicFile::AtomicFile(std::string name, std::string operation)
    : name_(std::move(name)), operation_(std::move(operation)) {
  check_name(operation_, name_);
  struct ::stat status {};
  const bool exists = ::lstat(name_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    throw_io_error(operation_, name_, "replace what is no regular file", EINVAL);
  }
  stream_ = create_in(folder_of(name_), temporary_name_);
  if (stream_ == nullptr) fail("create a file beside it");
}

AtomicFile::~AtomicFile() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!temporary_name_.empty()) ::unlink(temporary_name_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) fail("write");
}

void AtomicFile::commit() {
  if (std::fflush(stream_) != 0) fail("write");
  if (::fsync(::fileno(stream_)) != 0) fail("bring it to the disk");
  if (std::fclose(std::exchange(stream_, nullptr)) != 0) fail("close");
  if (std::rename(temporary_name_.c_str(), name_.c_str()) != 0) fail("rename the new file to it");
  temporary_name_.clear();
  sync_folder(folder_of(name_));
}

void AtomicFile::fail(const char* action) const { throw_io_error(operation_, name_, action, errno); }

std::vector<std::byte> read_file(const std::string& name, const std::string& operation) {
  check_name(operation, name);
  // To open a pipe would wait for a writer.
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor == -1) throw_io_error(operation, name, "open", errno);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(::fdopen(descriptor, "rb"), &std::fclose);
  if (!stream) {
    const int error = errno;
    ::close(descriptor);
    throw_io_error(operation, name, "open", error);
  }
  struct ::stat status {};
  if (::fstat(descriptor, &status) != 0) throw_io_error(operation, name, "look at", errno);
  if (S_ISDIR(status.st_mode)) throw_io_error(operation, name, "read", EISDIR);
  if (!S_ISREG(status.st_mode)) throw_io_error(operation, name, "read what is no regular file", EINVAL);

  // Beyond the size that the system gives, for files that grow and those that it makes up (as in /proc).
  constexpr std::size_t least = 4096;
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size) + least);
  std::size_t size = 0;
  while (const std::size_t count = std::fread(bytes.data() + size, 1, bytes.size() - size, stream.get())) {
    size += count;
    if (size == bytes.size()) bytes.resize(2 * size);
  }
  if (std::ferror(stream.get()) != 0) throw_io_error(operation, name, "read", errno);
  bytes.resize(size);
  return bytes;
}

}  // namespace strata::checkpoint::internal
