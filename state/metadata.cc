// SPDX-License-Identifier: Apache-2.0
#include "strata/state/metadata.h"

#include <fmt/format.h>

#include "strata/state/internal/quote.h"

namespace strata {
namespace {

std::string text_of(const MetadataValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const Index* integer = std::get_if<Index>(&value)) return std::to_string(*integer);
  if (const double* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return internal::quote_text(std::get<std::string>(value));
}

}  // namespace

Metadata::Metadata(std::initializer_list<Map::value_type> values) : Metadata(Map(values)) {}

Metadata::Metadata(Map values) : values_(values.empty() ? nullptr : std::make_shared<const Map>(std::move(values))) {}

const Metadata::Map& Metadata::values() const noexcept {
  static const Map none;
  return values_ ? *values_ : none;
}

const MetadataValue* Metadata::find(std::string_view name) const {
  const auto place = values().find(name);
  return place == values().end() ? nullptr : &place->second;
}

void Metadata::set(std::string_view name, MetadataValue value) {
  Map changed = values();
  changed.insert_or_assign(std::string(name), std::move(value));
  *this = Metadata(std::move(changed));
}

void Metadata::erase(std::string_view name) {
  Map changed = values();
  if (const auto place = changed.find(name); place != changed.end()) changed.erase(place);
  *this = Metadata(std::move(changed));
}

bool Metadata::operator==(const Metadata& other) const {
  return values_ == other.values_ || values() == other.values();
}

Metadata tagged(std::string_view tag) { return Metadata{{"tag", std::string(tag)}}; }

std::string to_string(const Metadata& metadata) {
  std::string text;
  for (const auto& [name, value] : metadata.values()) {
    if (!text.empty()) text += ", ";
    text += internal::escape(name) + "=" + text_of(value);
  }
  return text;
}

}  // namespace strata
