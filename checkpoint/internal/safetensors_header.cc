// SPDX-License-Identifier: Apache-2.0
#include "strata/checkpoint/internal/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "strata/checkpoint/internal/limits.h"
#include "strata/state/internal/quote.h"

namespace strata::checkpoint::internal {
namespace {

using Json = nlohmann::json;
using strata::internal::quote_text;

constexpr std::array<std::pair<std::string_view, DType>, all_dtypes.size()> dtype_names{{
    {"BOOL", DType::boolean},
    {"I8", DType::int8},
    {"I16", DType::int16},
    {"I32", DType::int32},
    {"I64", DType::int64},
    {"U8", DType::uint8},
    {"U16", DType::uint16},
    {"U32", DType::uint32},
    {"U64", DType::uint64},
    {"F16", DType::float16},
    {"BF16", DType::bfloat16},
    {"F32", DType::float32},
    {"F64", DType::float64},
}};

constexpr auto max_index = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());

// Takes the events of a JSON parser, of which it keeps the entries alone: a tree of the values would take many times
// the memory of the text.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const Source& source) : source_(source) {}

  std::vector<SafetensorsEntry> take_entries() { return std::move(entries_); }

  bool null() override { return scalar_value("null"); }
  bool boolean(bool) override { return scalar_value("a bool"); }
  bool number_integer(number_integer_t) override { return scalar_value("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return scalar_value("a number that is no integer"); }
  bool binary(binary_t&) override { return scalar_value("binary data"); }

  bool number_unsigned(number_unsigned_t number) override {
    if (place_ != Place::shape && place_ != Place::offsets) return scalar_value("an integer");
    if (place_ == Place::shape) return add_size(number);
    if (num_offsets_ == 2) fail("`data_offsets` must be two integers, not more");
    (num_offsets_++ == 0 ? entry_.begin : entry_.end) = number;
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata_member) return true;
    if (place_ != Place::member || member_ != "dtype") return scalar_value("a text");
    const auto known =
        std::find_if(dtype_names.begin(), dtype_names.end(), [&](const auto& entry) { return entry.first == text; });
    if (known == dtype_names.end()) {
      fail(fmt::format("`dtype` {} is not an element type that a tensor holds", quote_text(shortened(text))));
    }
    entry_.dtype = known->second;
    return true;
  }

  bool start_object(std::size_t) override {
    if (skips()) return enter_skipped();
    if (place_ == Place::root) {
      place_ = Place::name;
    } else if (place_ == Place::tensor) {
      place_ = Place::member;
    } else if (place_ == Place::metadata) {
      place_ = Place::metadata_member;
    } else {
      scalar_value("an object");
    }
    return true;
  }

  bool key(string_t& text) override {
    if (skipped_levels_ > 0) return true;
    if (place_ == Place::name) {
      begin_named(text);
    } else if (place_ == Place::member) {
      if (!members_.insert(text).second) fail(fmt::format("the key {} stands twice", quote_text(shortened(text))));
      member_ = text;
    } else if (!metadata_names_.insert(text).second) {
      fail(fmt::format("the metadata {} stand twice", quote_text(shortened(text))));
    }
    return true;
  }

  bool end_object() override {
    if (skipped_levels_ > 0) return leave_skipped();
    if (place_ == Place::member) end_tensor();
    place_ = place_ == Place::name ? Place::end : Place::name;
    return true;
  }

  bool start_array(std::size_t) override {
    if (skips()) return enter_skipped();
    if (place_ != Place::member || (member_ != "shape" && member_ != "data_offsets")) return scalar_value("a list");
    place_ = member_ == "shape" ? Place::shape : Place::offsets;
    return true;
  }

  bool end_array() override {
    if (skipped_levels_ > 0) return leave_skipped();
    place_ = Place::member;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    source_.fail(safetensors_length_bytes + position - std::min<std::size_t>(position, 1),
                 fmt::format("the header is no JSON text: {}.", shortened(error.what())));
  }

 private:
  enum class Place { root, name, tensor, metadata, metadata_member, member, shape, offsets, end };

  // Members of a tensor that the format does not know are passed over.
  [[nodiscard]] bool skips() const {
    return skipped_levels_ > 0 || (place_ == Place::member && !members_.empty() && is_unknown(member_));
  }
  static bool is_unknown(std::string_view member) {
    return member != "dtype" && member != "shape" && member != "data_offsets";
  }
  bool enter_skipped() {
    constexpr int max_skipped_levels = 100;
    if (++skipped_levels_ > max_skipped_levels) fail("lists and maps stand too deep within each other");
    return true;
  }
  bool leave_skipped() {
    --skipped_levels_;
    return true;
  }

  bool scalar_value(std::string_view got) {
    if (skips()) return true;
    switch (place_) {
      case Place::root:
        fail(fmt::format("the header must be an object, not {}", got));
      case Place::tensor:
        fail(fmt::format("the description of a tensor must be an object, not {}", got));
      case Place::metadata:
      case Place::metadata_member:
        fail(fmt::format("metadata must be an object of texts, not {}", got));
      case Place::shape:
      case Place::offsets:
        fail(fmt::format("`{}` may hold only integers from 0 to 2^63 - 1, not {}", member_, got));
      default:
        fail(fmt::format("`{}` must be {}, not {}", member_, member_ == "dtype" ? "a text" : "a list", got));
    }
  }

  void begin_named(const std::string& name) {
    if (name == safetensors_metadata_name) {
      if (std::exchange(has_metadata_, true)) fail("the metadata stand twice");
      place_ = Place::metadata;
      return;
    }
    entry_ = {};
    entry_.name = name;
    num_offsets_ = 0;
    members_.clear();
    place_ = Place::tensor;
  }

  bool add_size(number_unsigned_t size) {
    if (size > max_index) return scalar_value("a larger one");
    if (entry_.sizes.size() == max_rank_read) fail(fmt::format("`shape` has more than {} axes", max_rank_read));
    entry_.sizes.push_back(static_cast<Index>(size));
    return true;
  }

  void end_tensor() {
    for (const char* member : {"dtype", "shape", "data_offsets"}) {
      if (!members_.contains(member)) fail(fmt::format("`{}` is missing", member));
    }
    if (num_offsets_ != 2) fail(fmt::format("`data_offsets` must be two integers, not {}", num_offsets_));
    entries_.push_back(std::move(entry_));
  }

  [[noreturn]] void fail(const std::string& what) {
    const bool in_tensor =
        place_ == Place::tensor || place_ == Place::member || place_ == Place::shape || place_ == Place::offsets;
    source_.fail(safetensors_length_bytes, in_tensor
                                               ? fmt::format("tensor {}: {}.", quote_text(shortened(entry_.name)), what)
                                               : fmt::format("{}.", what));
  }

  const Source& source_;
  Place place_ = Place::root;
  int skipped_levels_ = 0;
  std::string member_;
  std::set<std::string> members_;
  std::set<std::string> metadata_names_;
  bool has_metadata_ = false;
  int num_offsets_ = 0;
  SafetensorsEntry entry_;
  std::vector<SafetensorsEntry> entries_;
};

std::string_view dtype_text(DType dtype) {
  return std::find_if(dtype_names.begin(), dtype_names.end(), [&](const auto& entry) { return entry.second == dtype; })
      ->first;
}

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::span<const std::byte> text, const Source& source) {
  // The JSON parser would take a NUL for the end of the text, and pass over a byte order mark.
  const auto nul = std::find(text.begin(), text.end(), std::byte{0});
  if (nul != text.end()) {
    source.fail(safetensors_length_bytes + static_cast<std::uint64_t>(nul - text.begin()),
                "the header holds a NUL byte.");
  }
  if (!text.empty() && text.front() == std::byte{0xef}) {
    source.fail(safetensors_length_bytes, "the header begins with a byte order mark.");
  }
  HeaderReader reader(source);
  const auto* begin = reinterpret_cast<const char*>(text.data());
  static_cast<void>(Json::sax_parse(begin, begin + text.size(), &reader));
  return reader.take_entries();
}

std::string safetensors_header(std::span<const SafetensorsEntry> entries) {
  std::string text = "{";
  for (const SafetensorsEntry& entry : entries) {
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", text.size() == 1 ? "" : ",",
                        Json(entry.name).dump(), dtype_text(entry.dtype), fmt::join(entry.sizes, ","), entry.begin,
                        entry.end);
  }
  text += "}";
  constexpr std::size_t alignment = 8;
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  return text;
}

}  // namespace strata::checkpoint::internal
