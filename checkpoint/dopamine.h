// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "strata/state/state.h"

namespace strata::checkpoint {

struct DopamineOptions {
  // Dopamine stores the elements of every array in row-major order, and still tags those that lay in column-major order
  // `F`. By default the array that was saved comes back. True reads the elements of tagged arrays in column-major
  // order, as Dopamine does, which gives the array that a Python program sees.
  bool column_major_if_tagged = false;

  // Kinds that are not known by name come back as `Variable`. True makes kinds of their names (find_or_add_kind), for
  // programs that look at the files of others; they are kept until the program ends.
  bool add_unknown_kinds = false;

  bool operator==(const DopamineOptions&) const = default;
};

// A state as Dopamine's MessagePack encoding: maps within maps by the keys of the paths (texts or integers), and each
// tensor as an array that Dopamine restores with its shape, elements and NumPy type. bfloat16, which NumPy lacks, is
// written as Dopamine writes it and arrives there as two raw bytes an element.
//
// Kinds other than `Variable` and metadata stand inside the array's map under `strata.kind` and `strata.metadata`,
// which Dopamine ignores. An array without them has the bytes that Dopamine writes.
//
// Throws StateError that lists what the encoding cannot hold: kinds of your own that are not registered (see
// register_kind) and would come back as `Variable`, texts that are not UTF-8, a map with the key `integer` or
// with all of `dtype`, `shape` and `data` (Dopamine takes them for numbers and arrays), paths of more than 1021 keys,
// tensors of more than 32 axes or of 4 GiB; and states that decode_dopamine would refuse for their size in memory.
[[nodiscard]] std::vector<std::byte> encode_dopamine(const State& state);

// The state that encode_dopamine or Dopamine wrote. Numbers that are no arrays become tensors of shape [], of int64
// (uint64 where that is too small), float64 or bool; the items of a list get the keys 0, 1, ...; empty maps and lists
// leave no trace.
//
// The kind of a variable is found by its name (see register_kind); one without a name, or of an unknown one, comes back
// as `Variable`, which fits a field of every kind, unless asked otherwise.
//
// Safe for bytes from anywhere: takes time proportional to their number, up to a logarithm, and less than 64 times
// their memory plus 1 MiB. Throws FormatError, naming byte and path, for bytes that are not the encoding of one state:
// cut off or followed by others, duplicate keys, more than 1024 levels, text that is not UTF-8, elements that do not
// fill the shape, element types that a tensor does not hold, values that are neither array nor number; and for trees
// whose paths would take more memory than that.
[[nodiscard]] State decode_dopamine(std::span<const std::byte> bytes, DopamineOptions options = {});

}  // namespace strata::checkpoint
