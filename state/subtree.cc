// SPDX-License-Identifier: Apache-2.0
#include "strata/state/subtree.h"

#include <algorithm>

#include "strata/state/internal/path_mover.h"
#include "strata/state/internal/state_access.h"

namespace strata {
namespace {

using Place = decltype(std::declval<const State&>().begin());

State moved(Place begin, Place end, const Path& root, int dropped) {
  internal::PathMover move(root, dropped);
  std::vector<State::Entry> entries;
  entries.reserve(static_cast<std::size_t>(end - begin));
  for (Place entry = begin; entry != end; ++entry) entries.push_back({move(entry->path), entry->variable});
  return internal::StateAccess::from_sorted(std::move(entries));
}

}  // namespace

State subtree(const State& state, const Path& prefix) {
  const Place begin = std::lower_bound(state.begin(), state.end(), prefix,
                                       [](const State::Entry& entry, const Path& p) { return entry.path < p; });
  const Place end = std::partition_point(begin, state.end(),
                                         [&](const State::Entry& entry) { return entry.path.starts_with(prefix); });
  return moved(begin, end, Path(), prefix.depth());
}

State with_prefix(const State& state, const Path& prefix) { return moved(state.begin(), state.end(), prefix, 0); }

}  // namespace strata
