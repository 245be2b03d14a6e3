// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "strata/checkpoint/flat_names.h"
#include "strata/state/state.h"

// NumPy's files: .npy holds one array, .npz a zip archive of them under their names. Neither knows kinds or metadata:
// variables come back as `Variable`, which fits a field of every kind.
//
// All element types of tensors go both ways. NumPy has no bfloat16 of its own: it is written as the Python package
// ml_dtypes writes it, and arrives in Python as two raw bytes an element (`array.view(ml_dtypes.bfloat16)`).
namespace strata::checkpoint {

// One array, byte for byte as numpy.save writes it.
[[nodiscard]] std::vector<std::byte> encode_npy(const Tensor& tensor);

// The array that numpy.save wrote, in either byte order, row- or column-major, of the versions 1 to 3 of the format.
//
// Safe for bytes from anywhere: takes less than 64 times their memory plus 1 MiB, and never runs anything. Throws
// FormatError, naming the byte, for bytes that are no such file or are followed by others, and for element types that a
// tensor does not hold: objects, texts, dates, records, complex numbers.
[[nodiscard]] Tensor decode_npy(std::span<const std::byte> bytes);

// The same to and from a file, which appears whole or not at all. Throw IoError with file, operation and the system's
// message as well.
void save_npy(const std::string& file, const Tensor& tensor);
[[nodiscard]] Tensor restore_npy(const std::string& file);

struct NpzOptions {
  FlatNameOptions names = {};
  bool deflate = false;  // writes compressed arrays, as numpy.savez_compressed does; both kinds are read
  bool operator==(const NpzOptions&) const = default;
};

// An archive as numpy.savez writes it: one member `<name>.npy` for each variable, without dates.
// Throws StateError that lists paths whose names would not be read back (see FlatNameOptions) or are no names of
// members: longer than 65531 bytes, with NUL.
[[nodiscard]] std::vector<std::byte> encode_npz(const State& state, const NpzOptions& options = {});

// The arrays of an archive, stored or deflated. Checks the checksum of each.
//
// Safe for bytes from anywhere: takes less than 64 times their memory plus 1 MiB, and for deflated arrays what they
// inflate to, which is at most 1032 times their bytes in the file. Throws FormatError, naming the member, for archives
// that are damaged, encrypted or compressed otherwise, with members that are no arrays (see decode_npy) or of one name,
// and names of which one continues another.
[[nodiscard]] State decode_npz(std::span<const std::byte> bytes, const FlatNameOptions& options = {});

void save_npz(const std::string& file, const State& state, const NpzOptions& options = {});
[[nodiscard]] State restore_npz(const std::string& file, const FlatNameOptions& options = {});

}  // namespace strata::checkpoint
