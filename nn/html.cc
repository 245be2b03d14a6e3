// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/html.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "strata/filters/internal/print.h"
#include "strata/filters/parse.h"
#include "strata/filters/split.h"
#include "strata/nn/internal/outline.h"
#include "strata/nn/internal/page_text.h"
#include "strata/state/internal/quote.h"
#include "strata/state/internal/utf8.h"
#include "strata/state/kind_registry.h"

namespace strata::nn {
namespace internal {
namespace {

using strata::internal::is_printable;

constexpr std::array dtypes{DType::boolean,  DType::int8,    DType::int16,  DType::int32,  DType::int64,
                            DType::uint8,    DType::uint16,  DType::uint32, DType::uint64, DType::float16,
                            DType::bfloat16, DType::float32, DType::float64};

// A JSON text that cannot end the script it stands in. Bytes of what is not printable become U+DC80 to U+DCFF, which
// the page turns back.
std::string json_text(std::string_view text) {
  std::string result = "\"";
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    strata::internal::next_character(text, position);
    const std::string_view character = text.substr(begin, position - begin);
    if (is_printable(character) && std::string_view("\"\\<>&").find(character.front()) == std::string_view::npos) {
      result += character;
      continue;
    }
    for (const char c : character) {
      const auto byte = static_cast<unsigned char>(c);
      result += fmt::format("\\u{:04x}", byte < 0x80 ? byte : 0xDC00 + byte);
    }
  }
  return result + "\"";
}

template <class List, class Write>
std::string json_list(const List& list, Write write) {
  std::string text = "[";
  for (const auto& item : list) {
    if (text.size() > 1) text += ',';
    text += write(item);
  }
  return text + "]";
}

// Gives kinds numbers, their bases before themselves.
class KindNumbers {
 public:
  Index number(const Kind& kind) {
    if (const auto place = numbers_.find(&kind); place != numbers_.end()) return place->second;
    const Index base = kind.base == nullptr ? -1 : number(*kind.base);
    bases_.push_back(base);
    return numbers_[&kind] = static_cast<Index>(bases_.size()) - 1;
  }

  [[nodiscard]] std::string json() const {
    return json_list(bases_, [](Index base) { return fmt::format("{{\"base\":{}}}", base); });
  }

 private:
  std::unordered_map<const Kind*, Index> numbers_;
  std::vector<Index> bases_;
};

std::string key_json(const Key& key) {
  if (key.is_integer()) return fmt::format(",\"key\":[\"{}\"]", key.integer());
  const std::string printed = to_string(key);
  return ",\"key\":" + json_text(key.text()) + (printed == key.text() ? "" : ",\"printed\":" + json_text(printed));
}

std::string variable_json(const Variable& variable, KindNumbers& kinds) {
  const Tensor& value = variable.value();
  std::size_t dtype = 0;
  while (dtypes[dtype] != value.dtype()) ++dtype;
  std::string text = fmt::format(",\"kind\":{},\"dtype\":{},\"shape\":{}", kinds.number(variable.kind()), dtype,
                                 json_list(value.shape(), [](Index size) { return std::to_string(size); }));
  if (variable.tag() != nullptr) text += ",\"tag\":" + json_text(*variable.tag());
  return text;
}

std::string row_json(const OutlineRow& row, KindNumbers& kinds) {
  std::string text = fmt::format("\n{{\"depth\":{},\"elements\":{},\"bytes\":{},\"what\":{}", row.depth, row.elements,
                                 row.bytes, json_text(describe(row)));
  if (row.key) text += key_json(*row.key);
  if (row.variable) text += variable_json(*row.variable, kinds);
  return text + "}";
}

std::string filter_json(const Filter& filter) {
  const std::string text = to_string(filter);
  bool is_read_back = false;
  try {
    is_read_back = parse_filter(text) == filter;
  } catch (const FilterTextError&) {
    is_read_back = false;
  }
  if (is_read_back) return json_text(text);
  throw FilterError(
      "[html] the filter " + strata::internal::quote(filter) +
      " has no text that the page could read. Use parts that have names, and register kinds of your own.");
}

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : strata::internal::escape(text)) {
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return result;
}

std::string data_json(const std::vector<OutlineRow>& rows, const std::string& title, const HtmlOptions& options) {
  KindNumbers kinds;
  const std::string names = json_list(kind_names(), [&](const std::string& name) {
    return fmt::format("[{},{}]", json_text(name), kinds.number(*find_kind(name)));
  });
  const std::string row_list = json_list(rows, [&](const OutlineRow& row) { return row_json(row, kinds); });
  const std::string dtype_list = json_list(dtypes, [](DType dtype) { return json_text(name(dtype)); });
  return fmt::format(R"({{"title":{},"names":{},"kinds":{},"dtypes":{},"filters":{},"rows":{}}})", json_text(title),
                     names, kinds.json(), dtype_list, json_list(options.filters, filter_json), row_list);
}

std::string page(const std::vector<OutlineRow>& rows, const HtmlOptions& options) {
  if (!options.filters.empty()) strata::internal::check_placement(options.filters);
  const std::string title = options.title.empty() ? describe(rows.front()) : options.title;
  const std::string data = data_json(rows, strata::internal::escape(title), options);
  constexpr std::string_view title_mark = "@title@";
  constexpr std::string_view data_mark = "@data@";
  std::string result;
  std::string_view left = page_text;
  for (std::size_t mark = left.find('@'); mark != std::string_view::npos; mark = left.find('@')) {
    result += left.substr(0, mark);
    left.remove_prefix(mark);
    const bool is_title = left.starts_with(title_mark);
    const bool is_data = left.starts_with(data_mark);
    result += is_title ? html_text(title) : is_data ? data : "@";
    left.remove_prefix(is_title ? title_mark.size() : is_data ? data_mark.size() : 1);
  }
  return result + std::string(left);
}

}  // namespace

std::string html_page(strata::internal::Node root, const HtmlOptions& options) { return page(outline(root), options); }

}  // namespace internal

std::string html(const State& state, const HtmlOptions& options) {
  return internal::page(internal::outline(state), options);
}

}  // namespace strata::nn
