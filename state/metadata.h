// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "strata/tensor/shape.h"

namespace strata {

// A named value that a variable carries beside its tensor.
using MetadataValue = std::variant<bool, Index, double, std::string>;

// Named values of a variable, in the order of their names. `tag` is the one that the filter with_tag looks at. Copies
// share.
class Metadata {
 public:
  using Map = std::map<std::string, MetadataValue, std::less<>>;

  Metadata() = default;
  Metadata(std::initializer_list<Map::value_type> values);
  explicit Metadata(Map values);

  [[nodiscard]] const Map& values() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return values_ == nullptr; }

  // The value of that name, or null.
  [[nodiscard]] const MetadataValue* find(std::string_view name) const;

  void set(std::string_view name, MetadataValue value);
  void erase(std::string_view name);

  bool operator==(const Metadata& other) const;

 private:
  std::shared_ptr<const Map> values_;  // null if there are none
};

// A tag alone, the most common metadata.
[[nodiscard]] Metadata tagged(std::string_view tag);

// "tag='lora', rank=4"
std::string to_string(const Metadata& metadata);

}  // namespace strata
