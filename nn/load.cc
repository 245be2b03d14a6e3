// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/load.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "strata/state/internal/leaves.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/path_lookup.h"
#include "strata/state/nested.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using strata::internal::Offenders;
using strata::internal::shown;
using Keys = std::vector<Key>;

Keys keys_of(const Path& path) { return {path.begin(), path.end()}; }

bool is_star(const Key& key) { return !key.is_integer() && (key.text() == "*" || key.text() == "**"); }

// What each star took, if keys from `key` on fit the pattern from `part` on.
bool match(const Keys& pattern, std::size_t part, const Keys& keys, std::size_t key, std::vector<Keys>& taken) {
  for (; part < pattern.size(); ++part, ++key) {
    if (!is_star(pattern[part])) {
      if (key == keys.size() || keys[key] != pattern[part]) return false;
      continue;
    }
    if (pattern[part].text() == "**") {
      taken.emplace_back();
      const std::size_t depth = taken.size();
      for (;; ++key) {
        if (match(pattern, part + 1, keys, key, taken)) return true;
        taken.resize(depth);
        if (key == keys.size()) return false;
        taken.back().push_back(keys[key]);
      }
    }
    if (key == keys.size()) return false;
    taken.push_back({keys[key]});
  }
  return key == keys.size();
}

// The number n of a key "{n}", or 0.
std::size_t capture_number(const Key& key) {
  if (key.is_integer() || key.text().size() < 3 || key.text().front() != '{' || key.text().back() != '}') return 0;
  const std::string_view text = key.text();
  return static_cast<std::size_t>(std::max<Index>(0, integer_reading(text.substr(1, text.size() - 2)).value_or(0)));
}

Path parted(const Path& path, const std::string& separator) {
  if (separator.empty()) return path;
  Path result;
  for (const Key& key : path) {
    result = key.is_integer() ? result / key : result / split_keys(key.text(), separator);
  }
  return result;
}

Path with_integers(const Path& path) {
  Keys keys;
  for (const Key& key : path) keys.push_back(strata::internal::read_key(key));
  return Path(keys);
}

// The path under which an entry is looked for. A rule sees digits as they are, and then as integers.
Path target_path(const Path& path, const LoadOptions& options) {
  const Path whole = parted(path, options.separator);
  for (const RenameRule& rule : options.rename) {
    if (std::optional<Path> result = rule(whole)) return *std::move(result);
    if (std::optional<Path> result = rule(with_integers(whole))) return *std::move(result);
  }
  return whole;
}

// Loads one state: what fits is noted first and done last.
class Loader {
 public:
  Loader(strata::internal::Node root, const LoadOptions& options) : options_(options) {
    for (strata::internal::Leaf& leaf : strata::internal::collect_leaves(root)) {
      paths_.push_back(std::move(leaf.path));
      targets_.push_back({leaf.variable});
    }
  }

  void add(const State& state) {
    std::vector<Path> wanted;
    for (const State::Entry& entry : state) wanted.push_back(target_path(entry.path, options_));
    const auto found = strata::internal::find_paths(wanted, paths_);
    const bool renames = !options_.rename.empty() || !options_.separator.empty();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const State::Entry& entry = state.begin()[static_cast<std::ptrdiff_t>(i)];
      if (!found[i]) {
        report_.unused.push_back(entry.path);
        continue;
      }
      if (!found[i]->as_is || (renames && wanted[i] != entry.path)) {
        report_.renamed.push_back({entry.path, paths_[found[i]->place]});
      }
      add(entry, found[i]->place);
    }
  }

  LoadReport finish() {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      (targets_[i].entry == nullptr ? report_.missing : report_.loaded).push_back(paths_[i]);
    }
    throw_if_refused();
    for (Target& target : targets_) {
      if (target.entry != nullptr) target.variable->reset(std::move(target.value));
    }
    return std::move(report_);
  }

 private:
  struct Target {
    Variable* variable;
    const State::Entry* entry = nullptr;
    Tensor value = {};
  };

  void add(const State::Entry& entry, std::size_t place) {
    Target& target = targets_[place];
    if (target.entry != nullptr) {
      twice_.add([&] {
        return shown(target.entry->path) + " and " + shown(entry.path) + " (both for " + shown(paths_[place]) + ")";
      });
      return;
    }
    target.entry = &entry;
    fit(paths_[place], target, entry);
  }

  void fit(const Path& path, Target& target, const State::Entry& entry) {
    const Tensor& expected = target.variable->value();
    Tensor value = entry.variable.value();
    const bool other_shape = value.shape() != expected.shape();
    const bool other_type = value.dtype() != expected.dtype();
    if ((other_shape && (!options_.reshape || value.size() != expected.size())) || (other_type && !options_.cast)) {
      different_.add(
          [&] { return shown(path) + " (expected " + describe(expected) + ", got " + describe(value) + ")"; });
      return;
    }
    if (other_shape) {
      report_.reshaped.push_back({path, value.shape(), expected.shape()});
      value = value.reshape(expected.shape());
    }
    if (other_type) {
      report_.cast.push_back({path, value.dtype(), expected.dtype()});
      value = value.astype(expected.dtype());
    }
    target.value = std::move(value);
  }

  void throw_if_refused() const {
    const auto sentence = [](const char* what, const std::vector<Path>& paths) {
      Offenders offenders;
      for (const Path& path : paths) offenders.add([&] { return shown(path); });
      return offenders.sentence(what);
    };
    std::string parts;
    if (!options_.allow_missing) parts += sentence("Missing", report_.missing);
    if (!options_.allow_unused) parts += sentence("Unused", report_.unused);
    parts += twice_.sentence("Given more than once") + different_.sentence("Different");
    if (!parts.empty()) {
      throw StateError("[load] the state does not fit the module." + parts +
                       " Nothing was changed; LoadOptions say what may differ.");
    }
  }

  const LoadOptions& options_;
  std::vector<Path> paths_;      // of the module's variables, in order
  std::vector<Target> targets_;  // and these variables
  LoadReport report_;
  Offenders twice_;
  Offenders different_;
};

}  // namespace

RenameRule rename_prefix(std::string_view from, std::string_view to) {
  return [from = Path::parse(from), to = Path::parse(to)](const Path& path) -> std::optional<Path> {
    if (!path.starts_with(from)) return std::nullopt;
    const Keys keys = keys_of(path);
    return to / Path(std::span<const Key>(keys).subspan(static_cast<std::size_t>(from.depth())));
  };
}

RenameRule rename_glob(std::string_view pattern, std::string_view to) {
  Keys parts = keys_of(Path::parse(pattern));
  Keys target = keys_of(Path::parse(to));
  const auto stars = static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), is_star));
  for (const Key& key : target) {
    if (capture_number(key) <= stars) continue;
    throw ValueError("[rename_glob] '" + std::string(to) + "' names " + to_string(key) + ", but '" +
                     std::string(pattern) + "' has " + std::to_string(stars) + " stars.");
  }
  return [parts = std::move(parts), target = std::move(target)](const Path& path) -> std::optional<Path> {
    std::vector<Keys> taken;
    if (!match(parts, 0, keys_of(path), 0, taken)) return std::nullopt;
    Keys keys;
    for (const Key& key : target) {
      const std::size_t number = capture_number(key);
      if (number == 0) {
        keys.push_back(key);
      } else {
        keys.insert(keys.end(), taken[number - 1].begin(), taken[number - 1].end());
      }
    }
    return Path(keys);
  };
}

LoadReport internal::load(strata::internal::Node root, const State& state, const LoadOptions& options) {
  Loader loader(root, options);
  loader.add(state);
  return loader.finish();
}

std::string to_string(const LoadReport& report) {
  std::string text = "loaded " + std::to_string(report.loaded.size()) + " variables\n";
  for (const Path& path : report.missing) text += "missing " + shown(path) + '\n';
  for (const Path& path : report.unused) text += "unused " + shown(path) + '\n';
  for (const auto& [from, to] : report.renamed) text += "renamed " + shown(from) + " to " + shown(to) + '\n';
  for (const auto& [path, from, to] : report.reshaped) {
    text += "reshaped " + shown(path) + " from " + strata::to_string(from) + " to " + strata::to_string(to) + '\n';
  }
  for (const auto& [path, from, to] : report.cast) {
    text += "cast " + shown(path) + " from " + std::string(name(from)) + " to " + std::string(name(to)) + '\n';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const LoadReport& report) { return out << to_string(report); }

}  // namespace strata::nn
