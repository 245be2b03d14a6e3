// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/flat_state.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "strata/checkpoint/internal/limits.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/utf8.h"
#include "strata/state/nested.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {
namespace {

// "07", "+7" and "-0" are texts: written out, the integer would be another name.
std::optional<Index> integer_key(std::string_view text) {
  const std::optional<Index> integer = integer_reading(text);
  if (!integer || std::to_string(*integer) != text) return std::nullopt;
  return integer;
}

Key key_of(std::string_view text) {
  if (const std::optional<Index> integer = integer_key(text)) return Key(*integer);
  return Key(text);
}

// What keeps a key from being read back from a name; null if nothing does.
const char* fault_of(const Key& key, const std::string& separator) {
  const std::string text = key.is_integer() ? std::to_string(key.integer()) : key.text();
  if (!separator.empty() && text.find(separator) != std::string::npos) return "a key holds the separator";
  if (key.is_integer()) return nullptr;
  if (integer_key(text)) return "a text key is made like an integer";
  return strata::internal::is_utf8(text) ? nullptr : "a key is not UTF-8";
}

const char* fault_of(const Path& path, const std::string& separator) {
  if (path.empty()) return "it has no keys";
  if (separator.empty() && path.depth() > 1) return "it has several keys, and the separator is empty";
  for (const Key& key : path) {
    if (const char* fault = fault_of(key, separator)) return fault;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> flat_names(const State& state, const FlatNameOptions& options, const std::string& operation) {
  std::vector<std::string> names;
  std::vector<std::string> offenders;
  for (const auto& [path, variable] : state) {
    if (const char* fault = fault_of(path, options.separator)) {
      offenders.push_back(fmt::format("{} ({})", strata::internal::shown(path), fault));
      continue;
    }
    std::string name;
    for (const Key& key : path) {
      if (!name.empty() || &key != &path[0]) name += options.separator;
      name += key.is_integer() ? std::to_string(key.integer()) : key.text();
    }
    names.push_back(std::move(name));
  }
  if (!offenders.empty()) {
    throw StateError(
        fmt::format("[{}] paths that their names would not lead back to: {}. Rename them, or take another "
                    "separator than '{}'.",
                    operation, strata::internal::list_offenders(offenders), options.separator));
  }
  return names;
}

FlatStateBuilder::FlatStateBuilder(const Source& source, const FlatNameOptions& options, std::size_t bytes_read)
    : source_(source), options_(options), memory_left_(memory_allowed(bytes_read)) {}

void FlatStateBuilder::add(std::string_view name, Tensor value, std::uint64_t offset) {
  std::vector<Key> keys;
  std::size_t memory = entry_memory;
  for (std::string_view rest = name;;) {
    const std::size_t end = options_.separator.empty() ? std::string_view::npos : rest.find(options_.separator);
    keys.push_back(key_of(rest.substr(0, end)));
    memory += key_memory(keys.back());
    if (memory > memory_left_) {
      source_.fail(offset, "the names up to here, as paths, take many times the memory of the bytes they come from.");
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + options_.separator.size());
  }
  memory_left_ -= memory;
  entries_.push_back({Path(keys), Variable(std::move(value))});
}

State FlatStateBuilder::finish() && {
  try {
    return State(std::move(entries_));
  } catch (const StateError& error) {
    source_.fail(0,
                 fmt::format("the names make no tree with the separator '{}': {}", options_.separator, error.what()));
  }
}

}  // namespace strata::checkpoint::internal
