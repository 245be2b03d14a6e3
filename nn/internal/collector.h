// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "strata/nn/internal/module_paths.h"
#include "strata/nn/node_filter.h"
#include "strata/state/state.h"

namespace strata::nn::internal {

using Reduce = std::function<Tensor(const Tensor& so_far, const Tensor& value)>;

// What the layers of one module hand out while it runs: values under the paths of the layers, with the names that the
// layers give them.
class Collector {
 public:
  struct Settings {
    const Filter& filter;          // which values are kept
    const NodeFilter* outputs_of;  // modules whose results are kept as well, or null
    const State& perturbations;    // added where layers perturb
  };

  Collector(strata::internal::Node root, const Settings& settings);

  // One of the members of a stacked module, which runs on a copy of its own. `place` is the stacked module's path in
  // what `outer` collects, or null if it has none there.
  struct Member {
    Collector& outer;
    const Path* place;
    Index index;
    Index size;
  };
  Collector(strata::internal::Node root, const Member& member);

  // The path of a part of the module, or null.
  [[nodiscard]] const Path* find(strata::internal::Node module) { return paths_.find(module); }

  void sow(strata::internal::Node module, std::string_view name, const Kind& kind, const Tensor& value);
  void sow(strata::internal::Node module, std::string_view name, const Kind& kind, const Tensor& value,
           const Reduce& reduce, const Tensor* init);
  [[nodiscard]] Tensor perturb(strata::internal::Node module, std::string_view name, const Tensor& x);

  // What a call returned: one tensor, or the tensors of a tuple.
  void output(strata::internal::Node module, const std::vector<Tensor>& tensors, bool is_tuple);

  // How values of one name come together.
  enum class Form { list, reduced, perturbation, outputs };

  struct Item {
    Index call;                 // of a list
    std::optional<Index> part;  // of a tuple
    Tensor value;
  };
  struct Record {
    const Kind* kind;
    Form form;
    Index calls = 0;
    std::vector<Item> items = {};
  };
  using Records = std::map<Path, Record>;

  // Everything that was collected. Throws StateError if perturbations were given that no layer asked for.
  [[nodiscard]] State state() &&;

  [[nodiscard]] Records records() && { return std::move(records_); }

  // What members collected, one value for all of them.
  void add(Records stacked);

 private:
  Record& record(strata::internal::Node module, std::string_view name, const Kind& kind, Form form, Path& path);
  [[nodiscard]] std::optional<Tensor> given(const Path& path) const;
  [[nodiscard]] bool keeps(const Path& path, const Kind& kind, const Tensor& value) const;

  ModulePaths paths_;
  Settings settings_;
  std::optional<Member> member_;
  Records records_;
};

}  // namespace strata::nn::internal
