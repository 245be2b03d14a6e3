// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/numpy.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "strata/checkpoint/internal/atomic_file.h"
#include "strata/checkpoint/internal/flat_state.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/checkpoint/internal/npy.h"
#include "strata/checkpoint/internal/zip_archive.h"
#include "strata/state/internal/listing.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint {
namespace {

using internal::Source;
using Bytes = std::span<const std::byte>;

constexpr std::string_view extension = ".npy";

void check_size(const internal::NpyHeader& header, std::uint64_t size, const Source& source) {
  const std::uint64_t left = size - header.size;
  if (left == header.element_bytes) return;
  source.fail(header.size, fmt::format("the array takes {} bytes, but {} follow.", header.element_bytes, left));
}

Tensor read_npy(Bytes bytes, const Source& source) {
  const internal::NpyHeader header = internal::parse_npy_header(bytes, source);
  check_size(header, bytes.size(), source);
  return internal::npy_tensor(header, bytes.subspan(header.size));
}

std::vector<std::byte> npy_bytes(const Tensor& tensor) {
  const std::string header = internal::npy_header(tensor);
  const Bytes text = std::as_bytes(std::span(header));
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() + tensor.num_bytes());
  bytes.insert(bytes.end(), text.begin(), text.end());
  const Bytes elements = tensor.bytes();
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}

void check_rank(const Tensor& tensor, const std::string& operation) {
  if (tensor.rank() <= internal::max_rank_written) return;
  throw ShapeError(fmt::format("[{}] {} has {} axes; arrays of NumPy have at most {}.", operation, describe(tensor),
                               tensor.rank(), internal::max_rank_written));
}

State read_npz(Bytes bytes, const Source& source, const FlatNameOptions& options) {
  const internal::ZipReader archive(bytes, source);
  internal::FlatStateBuilder builder(source, options, bytes.size());
  for (const internal::ZipReader::Member& member : archive.members()) {
    const Source within{source.operation,
                        (source.file.empty() ? "" : source.file + ", ") + internal::shortened(member.name)};
    const std::string_view name = member.name;
    if (!name.ends_with(extension)) within.fail(0, "expected only members whose names end in .npy.");
    // The header alone tells whether the rest is worth the memory.
    const internal::NpyHeader header =
        internal::parse_npy_header(archive.read_begin(member, internal::max_npy_header), within);
    check_size(header, member.size, within);
    const std::vector<std::byte> content = archive.read(member);
    builder.add(name.substr(0, name.size() - extension.size()),
                internal::npy_tensor(header, Bytes(content).subspan(header.size)), 0);
  }
  return std::move(builder).finish();
}

// What no name of a member can be.
void check_member_names(const std::vector<std::string>& names, const std::string& operation) {
  constexpr std::size_t most = 0xffff - extension.size();
  std::vector<std::string> offenders;
  for (const std::string& name : names) {
    if (name.size() > most || name.find('\0') != std::string::npos) offenders.push_back(internal::shortened(name));
  }
  if (offenders.empty()) return;
  throw StateError(
      fmt::format("[{}] names of more than {} bytes or with NUL are no names in an archive: {}. Rename them.",
                  operation, most, strata::internal::list_offenders(offenders)));
}

std::vector<std::byte> npz_bytes(const State& state, const NpzOptions& options, const std::string& operation) {
  std::vector<std::string> names = internal::flat_names(state, options.names, operation);
  check_member_names(names, operation);
  for (const auto& [path, variable] : state) check_rank(variable, operation);
  std::vector<internal::ZipMember> members;
  std::size_t position = 0;
  for (const auto& [path, variable] : state) {
    members.push_back({names[position++] + std::string(extension), npy_bytes(variable)});
  }
  return internal::write_zip(members, options.deflate);
}

void write_file(const std::string& file, const std::string& operation, Bytes bytes) {
  internal::AtomicFile output(file, operation);
  output.write(bytes);
  output.commit();
}

}  // namespace

std::vector<std::byte> encode_npy(const Tensor& tensor) {
  check_rank(tensor, "encode_npy");
  return npy_bytes(tensor);
}

Tensor decode_npy(std::span<const std::byte> bytes) { return read_npy(bytes, {.operation = "decode_npy"}); }

void save_npy(const std::string& file, const Tensor& tensor) {
  check_rank(tensor, "save_npy");
  write_file(file, "save_npy", npy_bytes(tensor));
}

Tensor restore_npy(const std::string& file) {
  return read_npy(internal::read_file(file, "restore_npy"), {.operation = "restore_npy", .file = file});
}

std::vector<std::byte> encode_npz(const State& state, const NpzOptions& options) {
  return npz_bytes(state, options, "encode_npz");
}

State decode_npz(std::span<const std::byte> bytes, const FlatNameOptions& options) {
  return read_npz(bytes, {.operation = "decode_npz"}, options);
}

void save_npz(const std::string& file, const State& state, const NpzOptions& options) {
  write_file(file, "save_npz", npz_bytes(state, options, "save_npz"));
}

State restore_npz(const std::string& file, const FlatNameOptions& options) {
  const std::vector<std::byte> bytes = internal::read_file(file, "restore_npz");
  return read_npz(bytes, {.operation = "restore_npz", .file = file}, options);
}

}  // namespace strata::checkpoint
