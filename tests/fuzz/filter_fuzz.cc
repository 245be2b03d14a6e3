// SPDX-License-Identifier: Apache-2.0
// parse_filter returns a filter or throws FilterTextError with a column in the text. What it returns is read back from
// its text, simplifies to a filter that takes the same variables and simplifies no further, and splits.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "strata/filters/explain.h"
#include "strata/filters/parse.h"
#include "strata/filters/simplify.h"
#include "strata/filters/split.h"
#include "strata/tensor/create.h"

namespace {

using strata::Filter;

std::optional<Filter> parse(std::string_view text) {
  try {
    return strata::parse_filter(text);
  } catch (const strata::FilterTextError& error) {
    if (error.column() < 1 || error.column() > text.size() + 1) std::abort();
    return std::nullopt;
  }
}

const strata::State& variables() {
  static const strata::State state{
      {{"blocks", 0, "kernel"}, strata::Param(strata::ones({2, 3}), strata::tagged("lora"))},
      {{"blocks", 0, "mean"}, strata::BatchStat(strata::ones({3}))},
      {{"blocks", 1, "kernel"}, strata::LoRAParam(strata::ones({2, 3}))},
      {{"", "it's", "a/b"}, strata::Variable(strata::ones({}, strata::DType::int32))}};
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const std::optional<Filter> filter = parse(text);
  if (!filter) return 0;
  const std::string printed = to_string(*filter);
  if (printed.size() > 1'000'000) return 0;
  if (parse(printed) != filter) std::abort();
  const Filter simple = simplify(*filter);
  if (simplify(simple) != simple) std::abort();
  const auto groups = strata::split(variables(), *filter, strata::rest);
  for (const auto& [path, variable] : variables()) {
    const bool takes = (*filter)(path, variable);
    if (takes != simple(path, variable) || takes != groups[0].contains(path)) std::abort();
  }
  if (size < 1000) (void)to_string(explain(variables(), *filter, strata::rest));
  return 0;
}
