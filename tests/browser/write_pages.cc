// SPDX-License-Identifier: Apache-2.0
//
// Writes pages, and what C++ says of the filters that are to be typed into them: write_pages FOLDER
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "filters/random_filters.h"
#include "strata/filters/parse.h"
#include "strata/filters/split.h"
#include "strata/nn/html.h"
#include "strata/state/kind_registry.h"

namespace {

using namespace strata;
using nlohmann::json;

struct Adapter : Param {
  STRATA_KIND(Adapter, Param)
};

const std::string hostile = "</script><img src=x onerror=document.title='taken'>";

State plain_state() {
  State state{{{"encoder", 0, "bias"}, Param(zeros({64}))},
              {{"encoder", 0, "kernel"}, Param(zeros({12, 64}), tagged("lora"))},
              {{"encoder", 1, "kernel"}, LoRAParam(zeros({64, 64}))},
              {{"encoder", 10, "kernel"}, Adapter(zeros({64, 64}, DType::bfloat16))},
              {{"encoder", "1", "scale"}, Param(zeros({0}))},
              {{"norm", "mean"}, BatchStat(zeros({64}))},
              {{"norm", "var"}, BatchStat(ones({64}, DType::float64), tagged("it's"))},
              {{"blocks", 0, "conv", "kernel"}, Param(zeros({3, 3, 4, 8}))},
              {{"blocks", -3, "conv", "kernel"}, Param(zeros({3, 3, 8, 8}))},
              {{"rng", "key"}, RngKey(zeros({2}, DType::uint32), tagged("params"))},
              {{"rng", "count"}, RngCount(zeros({}, DType::uint32), tagged(""))},
              {{"opt", "mu", "kernel"}, OptArray(zeros({12, 64}))},
              {{"step"}, Variable(zeros({}, DType::int64))},
              {{hostile}, Param(zeros({1}), tagged(hostile))}};
  const std::vector<std::string> odd{"a/b",    "",          "it's",         "\\", "0",   "é",  "漢字", "😀",
                                     "\n\x1b", "a\xff\xc3", "\xe2\x80\xae", "**", "[x]", "\"", "A b",  "\xed\xa0\x80"};
  for (const std::string& key : odd) state.set({"odd", key}, Param(zeros({2, 1})));
  return state;
}

const std::vector<std::string> written_filters{
    // kinds
    "Param", "Variable", "LoRAParam", "Adapter", "RngState", "OptState", "params", "batch_stats", "kind('Param')",
    R"(kind("RngKey"))",
    // tags
    "tag('lora')", "tag('')", R"(tag('it\'s'))", R"(tag("it's"))",
    R"(tag('</script><img src=x onerror=document.title=\'taken\'>'))",
    // paths
    "path('encoder')", "path(0)", "path('0')", "path(-3)", "path(010)", "path('')", R"(path('\n\x1b'))",
    R"(path('\xff'))", R"(path('a\xff\xc3'))", R"(path('\xc3\xa9'))", "path('é')", R"(path('\xed\xa0\x80'))",
    "path_like('1')", "path_like('')", R"(path_like('\xa9'))", "path_like('ern')", "path_in('step', 'norm/mean')",
    "path_in()", R"(path_in('odd/\'a/b\'', 'odd/\'\''))", R"(path_in("odd/'\\n\\x1b'"))", "path_in('encoder/1/kernel')",
    "path_in('encoder/\\'1\\'/scale')", "path_in('')",
    // patterns
    "glob('encoder/**/kernel')", "glob('**')", "glob('*/*')", "glob('**/kernel')", "glob('?orm/*')", "glob('odd/?')",
    "glob('odd/[a-z]*')", "glob('odd/[!a-z]*')", "glob('odd/[*][*]')", "glob('odd/a[/]b')", "glob('odd/')", "glob('')",
    "glob('encoder/[0-9]/**')", "glob('**/1*/**')", "glob('odd/[]-a]x]')", "regex('kernel$')",
    "regex('^encoder/[0-9]+/')", R"(regex('\d/\w+$'))", "regex('(?i)ENCODER')", "regex('a|b')", "regex('')",
    "regex('^step$|mean')", "regex('(norm|odd)/[[:alpha:]]')", R"(regex('\bvar\b'))", R"(regex('\pL\p{Han}?$'))",
    "regex('x{0}step')", "regex('(?:e.){2,}')", R"(regex('\Qa\E'))", R"(regex('\x{1F600}'))", R"(regex('[^a-z/0-9_]'))",
    R"(regex('[^\w/]'))", R"(regex('\\n'))", R"(regex('\\x1b'))", "regex('(a*)*$')", "regex('(?s-i:n.d)|(?P<x>st)ep')",
    R"(regex('\Aopt.*\z'))", "regex('c{1,2}o')", "regex('[]a]')", "regex('[a-]$')", "regex('o{,2}')",
    R"(regex('[\d-]/conv'))", "regex('((a+)+)+$')", R"(regex('\PN$'))",
    // tensors
    "dtype(int64)", "dtype(float32, bfloat16)", "dtype()", "shape(*, 64)", "shape(**, 64)", "shape()", "shape(**)",
    "shape(3, **, 8)", "shape(* *, 1)", "size >= 1000", "size == 0", "size<2", "size != 64", "rank == 2", "rank <= 1",
    "rank > 3", "size > -1", "size == 9223372036854775807",
    // combinations
    "everything", "nothing", "rest", "any()", "all()", "!Param", "!!Param", "Param & !tag('lora')",
    "Param | BatchStat & rank == 1", "(Param | BatchStat) & rank == 1", "any(tag('lora'), BatchStat, rank == 0)",
    "all(Param, path('encoder'), !LoRAParam)", " \t\n!( ( Param ) )\n", "!Param & !BatchStat | path('encoder')",
    // mistakes
    "Parm", "Param &", "Param & & Param", "(Param", "Param)", "tag(lora)", "tag('lora'", "tag('lora", "path()",
    "path(a)", "size", "size = 1", "size > 1.5", "size > 9223372036854775808", "shape(-1)", "shape(a)", "dtype(float)",
    "dtype(", "glob('a**')", "glob('a/[b')", "glob('[b-a]')", "glob('é[b-a]')", R"(glob('\x41[b-a]'))",
    "path_in('a//b')", "path_in('a', 'b/')", R"(path_in('\'a'))", "predicate", "tag", "Param()", "rest()", "nope('a')",
    "kind('nope')", "Param Param", "é", "'Param'", "any(Param", "any(,)", "!", "robot::Adapter", "&", "toString",
    "__proto__", "constructor('a')",
    // mistakes in regular expressions, whose place the page may see elsewhere
    "regex('(')", "regex(')')", "regex('a**')", "regex('*a')", "regex('[a')", "regex('[b-a]')", R"(regex('\1'))",
    R"(regex('(?=a)'))", "regex('a{1001}')", "regex('a{2,1}')", "regex('[[:nope:]]')", R"(regex('\p{Nope}'))",
    R"(regex('\j'))", "regex('(?P<a')", R"(regex('a\\'))", R"(regex('\xff'))"};

json answer(const State& state, const std::string& text) {
  json result{{"filter", text}};
  try {
    json paths = json::array();
    for (const auto& [path, variable] : filter(state, parse_filter(text))) paths.push_back(to_string(path));
    result["paths"] = paths;
  } catch (const FilterTextError& error) {
    result["column"] = error.column();
  }
  return result;
}

void write(const std::filesystem::path& name, const std::string& text) {
  std::ofstream(name, std::ios::binary) << text;
}

void write_case(const std::filesystem::path& folder, const std::string& name, const State& state,
                const std::vector<std::string>& filters) {
  json answers = json::array();
  for (const std::string& filter : filters) answers.push_back(answer(state, filter));
  write(folder / (name + ".html"), nn::html(state, {.title = name}));
  write(folder / (name + ".json"), answers.dump());
}

std::vector<std::string> random_filters(std::size_t count) {
  std::vector<std::string> filters;
  const auto make = [&] { filters.push_back(to_string(testing_filters::any_filter())); };
  while (filters.size() < count) rc::check(make);
  return filters;
}

// Paths of a few keys, so that the page stays small.
void add_entries(State& state, const State& other) {
  constexpr Index most = 60;
  constexpr int deepest = 3;
  for (const auto& [path, variable] : other) {
    if (state.size() == most) return;
    try {
      state.set(path.prefix(deepest), variable);
    } catch (const StateError&) {
      continue;  // the path continues another one
    }
  }
}

State large_state() {
  std::vector<State::Entry> entries;
  for (Index layer = 0; layer < 2000; ++layer) {
    for (const char* name : {"bias", "kernel", "scale", "mean", "var"}) {
      const bool is_stat = name[0] == 'm' || name[0] == 'v';
      entries.push_back(
          {{"layers", layer, name}, Variable(is_stat ? kind_of<BatchStat>() : kind_of<Param>(), zeros({8}))});
    }
  }
  return State(std::move(entries));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  register_kind(kind_of<Adapter>());
  write_case(folder, "plain", plain_state(), written_filters);
  State random;
  rc::check([&] { add_entries(random, testing_filters::any_state()); });
  write_case(folder, "random", random, random_filters(200));
  write_case(folder, "large", large_state(), {"BatchStat & glob('layers/1?/*')", "regex('layers/1999/.*r$')"});
  write(folder / "start.html",
        nn::html(plain_state(), {.title = "start", .filters = {with_tag("lora"), of_type<Param>, rest}}));
  return 0;
}
