// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "strata/filters/filter.h"
#include "strata/filters/path_patterns.h"
#include "strata/filters/tensor_filters.h"
#include "strata/state/state.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

// Filters and states for properties. Both draw from few names, so that filters take some of the variables.
namespace strata::testing_filters {

inline Key any_key() {
  if (*rc::gen::arbitrary<bool>()) return *rc::gen::inRange(0, 3);
  return *rc::gen::element<std::string>("a", "b", "ab", "0", "it's", "\\", "a/b", "", "é", "\n");
}

inline Path any_path() { return Path(*rc::gen::container<std::vector<Key>>(rc::gen::exec(any_key))); }

inline Variable any_variable() {
  const Kind* kind = *rc::gen::element(&kind_of<Param>(), &kind_of<LoRAParam>(), &kind_of<BatchStat>());
  const Tensor value = *rc::gen::element(ones({2, 3}), ones({3}), scalar(1.0F), zeros({2}, DType::int32));
  return Variable(*kind, value, *rc::gen::element(Metadata(), tagged("t"), tagged("")));
}

inline Filter any_part() {
  switch (*rc::gen::inRange(0, 13)) {
    case 0:
      return everything;
    case 1:
      return nothing;
    case 2:
      return rest;
    case 3:
      return of_kind(**rc::gen::element(&kind_of<Param>(), &kind_of<LoRAParam>(), &kind_of<BatchStat>()));
    case 4:
      return with_tag(*rc::gen::element<std::string>("t", "", "x"));
    case 5:
      return path_contains(any_key());
    case 6:
      return path_like(*rc::gen::element<std::string>("", "a", "b", "1", "'"));
    case 7:
      return path_in(*rc::gen::container<std::vector<Path>>(rc::gen::exec(any_path)));
    case 8:
      return path_glob(*rc::gen::element<std::string>("**/a", "*", "**", "?/**", "[ab]*/**/[!a]", "", "a//b"));
    case 9:
      return path_regex(*rc::gen::element<std::string>("a", "^a/", "[0-9]$", "\\d", ""));
    case 10:
      return of_dtype(*rc::gen::element(std::vector<DType>{}, std::vector{DType::int32, DType::float32}));
    case 11:
      return of_shape(*rc::gen::element(std::vector<Index>{}, std::vector<Index>{any_size, 3},
                                        std::vector<Index>{any_sizes, 3}, std::vector<Index>{2, any_sizes}));
    default:
      return compare(*rc::gen::element(of_size, of_rank), static_cast<Comparison>(*rc::gen::inRange(0, 6)),
                     *rc::gen::inRange(-1, 4));
  }
}

inline std::vector<Filter> any_parts(int depth);

inline Filter any_filter(int depth = 3) {
  if (depth == 0) return any_part();
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return any_part();
    case 1:
      return !any_filter(depth - 1);
    case 2:
      return any_filter(depth - 1) && any_filter(depth - 1);
    case 3:
      return any_filter(depth - 1) || any_filter(depth - 1);
    case 4:
      return any(any_parts(depth - 1));
    default:
      return all(any_parts(depth - 1));
  }
}

inline std::vector<Filter> any_parts(int depth) {
  std::vector<Filter> filters;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const bool repeats = !filters.empty() && *rc::gen::inRange(0, 4) == 0;
    filters.push_back(repeats ? filters.front() : any_filter(depth));
  }
  return filters;
}

inline State any_state() {
  State state;
  for (int i = *rc::gen::inRange(0, 12); i > 0; --i) {
    const Path path = any_path();
    if (path.empty()) continue;
    try {
      state.set(path, any_variable());
    } catch (const Error&) {
      continue;  // the path continues another one
    }
  }
  return state;
}

}  // namespace strata::testing_filters
