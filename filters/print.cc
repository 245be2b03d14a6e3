// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/print.h"

#include <ostream>

#include "strata/filters/filter.h"
#include "strata/filters/internal/filter_node.h"
#include "strata/filters/internal/vocabulary.h"
#include "strata/state/internal/quote.h"

namespace strata {
namespace internal {
namespace {

// How tightly the operators bind what stands beside them.
enum class Binding { any, all, comparison, negation, tightest };

// Operators are binary and associate to the left: `a & b & c` is (a & b) & c. Lists of other lengths are calls.
Binding binding(const Filter& filter) {
  if (get_part<Not>(filter) != nullptr) return Binding::negation;
  if (get_part<Measured>(filter) != nullptr) return Binding::comparison;
  if (children(filter).size() != 2) return Binding::tightest;
  return get_part<Any>(filter) != nullptr ? Binding::any : Binding::all;
}

// Writes the text from left to right and stops soon after it has become too long: a filter of few parts that are shared
// can have a text beyond all bounds.
class Printer {
 public:
  explicit Printer(std::size_t max_length) : max_length_(max_length) {}

  std::string take() {
    if (text_.size() <= max_length_) return std::move(text_);
    std::size_t end = max_length_;
    while (end > 0 && (static_cast<unsigned char>(text_[end]) & 0xC0u) == 0x80u) --end;  // not within a character
    return text_.substr(0, end) + "...";
  }

  void write(const Filter& filter) {
    if (text_.size() <= max_length_) std::visit(*this, filter.node().part);
  }

  void operator()(const Rest&) { text_ += "rest"; }
  void operator()(const Everything&) { text_ += "everything"; }
  void operator()(const Nothing&) { text_ += "nothing"; }
  void operator()(const OfKind& part) {
    const std::string_view name = part.kind->name;
    if (!name.empty() && leading_word(name) == name && !is_reserved(name)) {
      text_ += name;
    } else {
      call("kind", quote_text(name));
    }
  }
  void operator()(const WithTag& part) { call("tag", quote_text(part.tag)); }
  void operator()(const PathContains& part) {
    call("path", part.key.is_integer() ? to_string(part.key) : quote_text(part.key.text()));
  }
  void operator()(const PathLike& part) { call("path_like", quote_text(part.text)); }
  void operator()(const PathIn& part) {
    list("path_in", part.paths, [&](const Path& path) { text_ += quote_text(to_string(path)); });
  }
  void operator()(const PathGlob& part) { call("glob", quote_text(part.glob.pattern())); }
  void operator()(const PathRegex& part) { call("regex", quote_text(part.regex.pattern())); }
  void operator()(const OfDType& part) {
    list("dtype", part.dtypes, [&](DType dtype) { text_ += name(dtype); });
  }
  void operator()(const OfShape& part) {
    list("shape", part.sizes, [&](Index size) {
      text_ += size == any_size ? "*" : size == any_sizes ? "**" : std::to_string(size);
    });
  }
  void operator()(const Measured& part) {
    for (const auto& [word, measure] : measures) text_ += measure == part.measure ? word : "";
    for (const auto& [sign, comparison] : comparisons) {
      if (comparison == part.comparison) text_ += " " + std::string(sign) + " ";
    }
    text_ += std::to_string(part.value);
  }
  void operator()(const Custom&) { text_ += predicate_word; }
  void operator()(const Any& part) { join("any", " | ", part.filters, Binding::any); }
  void operator()(const All& part) { join("all", " & ", part.filters, Binding::all); }
  void operator()(const Not& part) {
    text_ += '!';
    group(part.filter, Binding::negation);
  }

 private:
  void call(const char* function, std::string_view argument) {
    text_ += function;
    text_ += '(';
    text_ += argument;
    text_ += ')';
  }

  template <class List, class WriteItem>
  void list(const char* function, const List& items, WriteItem write_item) {
    text_ += function;
    text_ += '(';
    const char* separator = "";
    for (const auto& item : items) {
      text_ += separator;
      write_item(item);
      separator = ", ";
      if (text_.size() > max_length_) return;
    }
    text_ += ')';
  }

  void join(const char* function, const char* sign, const std::vector<Filter>& filters, Binding own) {
    if (filters.size() != 2) return list(function, filters, [&](const Filter& filter) { write(filter); });
    group(filters[0], own);
    text_ += sign;
    group(filters[1], static_cast<Binding>(static_cast<int>(own) + 1));
  }

  // In parentheses if it binds less tightly than this.
  void group(const Filter& filter, Binding needed) {
    const bool parentheses = binding(filter) < needed;
    if (parentheses) text_ += '(';
    write(filter);
    if (parentheses) text_ += ')';
  }

  std::size_t max_length_;
  std::string text_;
};

}  // namespace

std::string print(const Filter& filter, std::size_t max_length) {
  Printer printer(max_length);
  printer.write(filter);
  return printer.take();
}

}  // namespace internal

std::string to_string(const Filter& filter) { return internal::print(filter, 1'000'000); }

std::ostream& operator<<(std::ostream& out, const Filter& filter) { return out << to_string(filter); }

}  // namespace strata
