// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/module_paths.h"

#include <string>

#include "strata/state/internal/quote.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {

using strata::internal::Node;

namespace {

bool has_child(Node module, std::string_view name) {
  class Search final : public strata::internal::ChildVisitor {
   public:
    explicit Search(std::string_view name) : name_(name) {}
    void child(const strata::internal::KeyView& key, Node) override {
      found = found || (!key.is_integer && key.text == name_);
    }

    bool found = false;

   private:
    std::string_view name_;
  };
  Search search(name);
  module.type->children(module.object, search);
  return search.found;
}

}  // namespace

const Path* ModulePaths::find(Node module) {
  class Handler final : public strata::internal::WalkHandler {
   public:
    explicit Handler(Table& paths) : paths_(paths) {}
    void group(const strata::internal::Trail& trail, Node node) override {
      paths_.emplace(strata::internal::identity(node), trail.path());
    }

   private:
    Table& paths_;
  };
  if (!paths_) {
    Table found;
    Handler handler(found);
    strata::internal::walk(root_, handler);
    paths_ = std::move(found);
  }
  const auto place = paths_->find(strata::internal::identity(module));
  return place == paths_->end() ? nullptr : &place->second;
}

Path ModulePaths::of_name(Node module, std::string_view name, std::string_view operation) {
  const Path* path = find(module);
  if (path == nullptr) {
    throw StateError("[" + std::string(operation) + "] " + strata::internal::quote_text(name) + " comes from a " +
                     std::string(module.type->name) + " that is not part of the " + std::string(root_.type->name) +
                     " that runs: another module, a copy, or one that moved meanwhile. Call the module's own parts.");
  }
  Path result = *path / Key(name);
  if (has_child(module, name)) {
    throw StateError("[" + std::string(operation) + "] " + to_string(result) +
                     " is there already: the module has a field of this name. Choose another name.");
  }
  return result;
}

}  // namespace strata::nn::internal
