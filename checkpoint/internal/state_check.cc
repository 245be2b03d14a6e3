// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/state_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <variant>
#include <vector>

#include "strata/checkpoint/internal/array_names.h"
#include "strata/checkpoint/internal/limits.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/quote.h"
#include "strata/state/internal/utf8.h"
#include "strata/state/kind_registry.h"
#include "strata/tensor/error.h"

namespace strata::checkpoint::internal {
namespace {

constexpr std::size_t max_text_bytes = std::numeric_limits<std::uint32_t>::max();

bool is_text_encodable(std::string_view text) {
  return text.size() <= max_text_bytes && strata::internal::is_utf8(text);
}

class Check {
 public:
  void check_depths(Entries entries) {
    for (const State::Entry& entry : entries) {
      if (entry.path.depth() > static_cast<int>(max_path_keys)) {
        add(Path({entry.path[0]}), fmt::format("a path of {} keys, at most {} fit", entry.path.depth(), max_path_keys));
      }
    }
  }

  void check_map(Entries entries, int depth) {
    if (is_leaf(entries, depth)) return check_variable(entries[0]);
    int array_names = 0;
    bool is_integer = false;
    for_each_key(entries, depth, [&](const Key& key, Entries below) {
      const bool is_text = !key.is_integer();
      if (is_text && !is_text_encodable(key.text())) add(below[0].path, "a key is not UTF-8");
      if (is_text && (key.text() == shape_name || key.text() == data_name || key.text() == dtype_name)) ++array_names;
      if (is_text && key.text() == integer_name) is_integer = true;
      check_map(below, depth + 1);
    });
    if (array_names == 3) add(prefix(entries, depth), "with the keys shape, data and dtype it reads as an array");
    if (is_integer) add(prefix(entries, depth), "with the key integer it reads as a number");
  }

  void throw_if_any(const std::string& operation) const {
    if (problems_.empty()) return;
    throw StateError(fmt::format("[{}] Dopamine's encoding cannot hold the state: {}.", operation,
                                 strata::internal::list_offenders(problems_)));
  }

 private:
  static Path prefix(Entries entries, int depth) { return entries[0].path.prefix(depth); }

  void check_variable(const State::Entry& entry) {
    const Tensor& tensor = entry.variable.value();
    if (tensor.rank() > max_rank_written) {
      add(entry.path, fmt::format("{} axes, at most {} fit", tensor.rank(), max_rank_written));
    }
    if (tensor.num_bytes() > max_text_bytes) {
      add(entry.path, fmt::format("{} bytes of elements, less than 4 GiB fit", tensor.num_bytes()));
    }
    const std::string_view kind = entry.variable.kind().name;
    if (!is_text_encodable(kind)) add(entry.path, "the name of the kind is not UTF-8");
    if (find_kind(kind) != &entry.variable.kind()) {
      add(entry.path,
          fmt::format("its kind {0} is not registered and would be lost: call register_kind(kind_of<{0}>())",
                      strata::internal::escape(kind)));
    }
    const Metadata::Map& metadata = entry.variable.metadata().values();
    const bool encodable = std::all_of(metadata.begin(), metadata.end(), [](const auto& item) {
      const std::string* text = std::get_if<std::string>(&item.second);
      return is_text_encodable(item.first) && (text == nullptr || is_text_encodable(*text));
    });
    if (!encodable) add(entry.path, "a text of the metadata is not UTF-8");
  }

  void add(const Path& path, const std::string& what) { problems_.push_back(to_string(path) + " (" + what + ")"); }

  std::vector<std::string> problems_;
};

}  // namespace

void check_encodable(const State& state, const std::string& operation) {
  const Entries entries(state.begin(), state.end());
  Check check;
  check.check_depths(entries);
  check.throw_if_any(operation);
  check.check_map(entries, 0);
  check.throw_if_any(operation);
}

}  // namespace strata::checkpoint::internal
