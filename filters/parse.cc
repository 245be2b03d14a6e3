// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/parse.h"

#include "strata/filters/internal/filter_node.h"
#include "strata/filters/internal/nearest.h"
#include "strata/filters/internal/pattern_error.h"
#include "strata/filters/internal/text_reader.h"
#include "strata/filters/internal/vocabulary.h"
#include "strata/state/kind_registry.h"

namespace strata {
namespace {

using namespace internal;

std::vector<std::string> strings(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

class Parser : private TextReader {
 public:
  explicit Parser(std::string_view text) : TextReader(text) {}

  Filter parse() {
    const Filter filter = alternatives();
    if (!at_end()) fail_here("expected `&`, `|` or the end of the text");
    return filter;
  }

 private:
  // Parentheses within parentheses, which recurse.
  struct Level {
    explicit Level(Parser& reader) : parser(reader) {
      if (++parser.levels_ > max_filter_depth) parser.fail_too_deep(parser.position() - 1);
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser.levels_; }
    Parser& parser;
  };

  [[noreturn]] void fail_too_deep(std::size_t place) {
    fail(place, 1, "the filter has more than " + std::to_string(max_filter_depth) + " levels",
         "Give all parts to one any(...) or all(...) instead of joining them one by one.");
  }

  Filter build(std::size_t place, FilterPart part) {
    try {
      return make_filter(std::move(part));
    } catch (const FilterError&) {
      fail_too_deep(place);
    }
  }

  Filter alternatives() {
    Filter left = conjunction();
    while (accept('|')) {
      const std::size_t place = position() - 1;
      left = build(place, Any{{left, conjunction()}});
    }
    return left;
  }

  Filter conjunction() {
    Filter left = negation();
    while (accept('&')) {
      const std::size_t place = position() - 1;
      left = build(place, All{{left, negation()}});
    }
    return left;
  }

  Filter negation() {
    int negations = 0;
    std::size_t place = position();
    while (accept('!')) {
      place = position() - 1;
      if (++negations >= max_filter_depth) fail_too_deep(place);
    }
    Filter filter = primary();
    while (negations-- > 0) filter = build(place, Not{filter});
    return filter;
  }

  Filter primary() {
    skip_blanks();
    if (accept('(')) {
      const Level level(*this);
      const Filter filter = alternatives();
      close();
      return filter;
    }
    const std::size_t place = position();
    const std::string_view word = leading_word(left());
    if (word.empty()) fail_here("expected a filter");
    advance(word.size());
    for (const auto& [name, measure] : measures) {
      if (word == name) return comparison(measure);
    }
    return accept('(') ? call(word, place) : constant(word, place);
  }

  Filter comparison(Measure measure) {
    skip_blanks();
    for (const auto& [sign, meaning] : comparisons) {
      if (!left().starts_with(sign)) continue;
      advance(sign.size());
      return compare(measure, meaning, integer());
    }
    fail_here("expected ==, !=, <, <=, > or >=");
  }

  Filter constant(std::string_view word, std::size_t place) {
    if (word == "rest") return rest;
    if (word == "everything") return everything;
    if (word == "nothing") return nothing;
    if (word == predicate_word) {
      fail(place, word.size(), "`predicate` stands for a function in a program, which a text cannot name",
           "Write the filter with parts that have names.");
    }
    if (is_reserved(word)) {
      fail(place, word.size(), "`" + std::string(word) + "` needs parentheses",
           "Write `" + std::string(word) + "(...)`.");
    }
    return kind(word, place, word.size());
  }

  Filter kind(std::string_view name, std::size_t place, std::size_t length) {
    if (const Kind* known = find_kind(name)) return of_kind(*known);
    std::vector<std::string> names = kind_names();
    for (const auto& words : {strings(constants), strings(functions)})
      names.insert(names.end(), words.begin(), words.end());
    for (const auto& [word, measure] : measures) names.emplace_back(word);
    fail(place, length, "no kind is named `" + std::string(name.substr(0, 64)) + "`",
         did_you_mean(name, names) + "Kinds of one's own are known by name after strata::register_kind.");
  }

  Filter call(std::string_view function, std::size_t place) {
    if (function == "any") return build(place, Any{filters()});
    if (function == "all") return build(place, All{filters()});
    if (function == "kind") {
      skip_blanks();
      const std::size_t begin = position();
      const std::string name = text();
      const Filter filter = kind(name, begin, position() - begin);
      close();
      return filter;
    }
    if (function == "tag") return with_tag(only(&Parser::text));
    if (function == "path") return path_contains(only(&Parser::key));
    if (function == "path_like") return path_like(only(&Parser::text));
    if (function == "path_in") return path_in(list(&Parser::path));
    if (function == "glob") return only(&Parser::pattern<PathGlob, Glob>);
    if (function == "regex") return only(&Parser::pattern<PathRegex, Regex>);
    if (function == "dtype") return of_dtype(list(&Parser::dtype));
    if (function == "shape") return of_shape(list(&Parser::axis));
    const bool takes_none = find_kind(function) != nullptr || is_reserved(function);
    fail(place, function.size(),
         takes_none ? "`" + std::string(function) + "` takes no parentheses"
                    : "there is no function `" + std::string(function.substr(0, 64)) + "`",
         takes_none ? "" : did_you_mean(function, strings(functions)));
  }

  // What stands between the parentheses of a call, the closing one included.
  template <class T>
  T only(T (Parser::*read)()) {
    T value = (this->*read)();
    close();
    return value;
  }

  template <class T>
  std::vector<T> list(T (Parser::*read)()) {
    std::vector<T> values;
    if (accept(')')) return values;
    do {
      values.push_back((this->*read)());
    } while (accept(','));
    close();
    return values;
  }

  std::vector<Filter> filters() {
    const Level level(*this);
    return list(&Parser::alternatives);
  }

  void close() {
    if (!accept(')')) fail_here("expected `)`");
  }

  std::string text() { return read_text(); }

  Key key() {
    skip_blanks();
    return left().starts_with('\'') || left().starts_with('"') ? Key(text()) : Key(integer());
  }

  Path path() {
    skip_blanks();
    const std::size_t place = position();
    const std::string whole = text();
    try {
      return Path::parse(whole);
    } catch (const ValueError& error) {
      fail(place, position() - place, "this is no path", error.what());
    }
  }

  template <class Part, class Pattern>
  Filter pattern() {
    skip_blanks();
    const std::size_t place = position();
    std::string whole = text();
    try {
      return make_filter(Part{Pattern(std::move(whole))});
    } catch (const PatternError& error) {
      fail(byte_of_text(place, error.position), 1, error.what, "");
    }
  }

  DType dtype() {
    skip_blanks();
    const std::size_t place = position();
    const std::string_view word = leading_word(left());
    if (word.empty()) fail_here("expected an element type such as float32");
    advance(word.size());
    for (const DType known : all_dtypes) {
      if (name(known) == word) return known;
    }
    std::vector<std::string> names;
    for (const DType known : all_dtypes) names.emplace_back(name(known));
    fail(place, word.size(), "there is no element type `" + std::string(word.substr(0, 64)) + "`",
         did_you_mean(word, names));
  }

  Index axis() {
    skip_blanks();
    if (accept('*')) return accept('*') ? any_sizes : any_size;
    const std::size_t place = position();
    const Index size = integer();
    if (size < 0) fail(place, position() - place, "an axis has no negative size", "");
    return size;
  }

  int levels_ = 0;
};

}  // namespace

Filter parse_filter(std::string_view text) { return Parser(text).parse(); }

}  // namespace strata
