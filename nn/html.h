// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "strata/filters/filter.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/state.h"

namespace strata::nn {

struct HtmlOptions {
  std::string title = {};  // of the page; else the type of the module, or `State`

  // An ordered split that colours the page at first. The filters stand in it as texts and can be changed there.
  std::vector<Filter> filters = {};
};

namespace internal {

std::string html_page(strata::internal::Node root, const HtmlOptions& options);

}  // namespace internal

// One HTML page that shows the module as a tree which can be folded and searched, with kind, element type, shape and
// bytes of each variable, and colours the groups of a split by filters that are typed into it. The page needs nothing
// else, reads the text form of filters (parse.h) itself, and knows the kinds that are known by name (kind_registry.h).
//
// Throws FilterError for a filter that holds a predicate or an unregistered kind, which no text names, and if `rest` is
// followed by another filter.
template <class M>
[[nodiscard]] std::string html(const M& module, const HtmlOptions& options = {}) {
  return internal::html_page(strata::internal::node_of(module), options);
}

// The same for the paths of a state.
[[nodiscard]] std::string html(const State& state, const HtmlOptions& options = {});

}  // namespace strata::nn
