// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/path_lookup.h"

#include <algorithm>
#include <numeric>

#include "strata/state/internal/path_comparer.h"
#include "strata/state/internal/path_mover.h"
#include "strata/state/nested.h"

namespace strata::internal {
namespace {

// Calls found(i, place) for each path number i that is in the list.
template <class F>
void find_each(std::span<const Path> wanted, std::span<const Path> known, F found) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by_path = [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; };
  if (!std::is_sorted(order.begin(), order.end(), by_path)) std::sort(order.begin(), order.end(), by_path);
  PathComparer compare;
  std::size_t place = 0;
  for (auto next = order.begin(); next != order.end() && place < known.size();) {
    const std::strong_ordering difference = compare(wanted[*next], known[place]);
    if (difference > 0) {
      ++place;
      continue;
    }
    if (difference == 0) found(*next, place);
    ++next;
  }
}

}  // namespace

Key read_key(const Key& key) {
  if (key.is_integer()) return key;
  const std::optional<Index> integer = integer_reading(key.text());
  return integer ? Key(*integer) : key;
}

std::vector<std::optional<FoundPath>> find_paths(std::span<const Path> wanted, std::span<const Path> known) {
  std::vector<std::optional<FoundPath>> result(wanted.size());
  find_each(wanted, known, [&](std::size_t i, std::size_t place) { result[i] = FoundPath{place, true}; });
  std::vector<std::size_t> others;
  std::vector<Path> readings;
  PathMover read(Path(), 0, read_key);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (result[i]) continue;
    others.push_back(i);
    readings.push_back(read(wanted[i]));
  }
  find_each(readings, known, [&](std::size_t i, std::size_t place) { result[others[i]] = FoundPath{place, false}; });
  return result;
}

}  // namespace strata::internal
