// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "strata/nn/internal/member_layout.h"
#include "strata/state/internal/clone.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/rngs.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {

// What makes a member from its own streams.
template <class F, class M>
concept MemberFactory = std::is_invocable_r_v<M, F&, Rngs&>;

template <class M>
std::vector<strata::internal::Node> nodes_of(const std::vector<M>& modules) {
  std::vector<strata::internal::Node> nodes;
  for (const M& module : modules) nodes.push_back(strata::internal::node_of(module));
  return nodes;
}

template <class M, MemberFactory<M> F>
std::vector<M> make_members(Index count, Rngs& rngs, F& make) {
  std::vector<M> members;
  for (Rngs& of_member : rngs.split(count)) members.push_back(make(of_member));
  return members;
}

// Several alike modules in one: what Ensemble and Repeat are made of.
template <class M>
class StackedModule {
 public:
  // Number of members.
  [[nodiscard]] Index size() const noexcept { return layout_.size; }
  [[nodiscard]] const StateAxes& axes() const noexcept { return layout_.axes; }

  // One member as a module of its own. Throws ValueError if there is no such member.
  [[nodiscard]] M member(Index index) const {
    M result = strata::internal::clone(module_);
    take_member(strata::internal::node_of(result), strata::internal::node_of(module_), layout_, index);
    return result;
  }

  // The module whose variables are stacked. Plain values that are set here hold for all members.
  [[nodiscard]] const M& stacked() const noexcept { return module_; }
  [[nodiscard]] M& stacked() noexcept { return module_; }

 protected:
  StackedModule(const std::vector<M>& members, const StateAxes& axes)
      : module_(copy_of_first(members)),
        layout_(stack_members(strata::internal::node_of(module_), nodes_of(members), axes)) {}

  // Blank, to be filled by a copy.
  explicit StackedModule(M blank) : module_(std::move(blank)), layout_{0, 0, {}} {}

  M module_;
  MemberLayout layout_;

 private:
  template <class T>
  friend struct StackedType;

  static M copy_of_first(const std::vector<M>& members) {
    if (members.empty()) throw ValueError("[stacked module] there are no members. Give at least one.");
    return strata::internal::clone(members.front());
  }
};

// A stacked module has the paths of its member type: it shows the children of the module itself.
template <class T>
struct StackedType {
  static constexpr strata::internal::NodeType make() {
    using M = std::remove_cvref_t<decltype(std::declval<T&>().stacked())>;
    static_assert(strata::internal::make_node_type<M>().role == strata::internal::Role::group,
                  "members are modules or containers, not pointers to them");
    strata::internal::NodeType type{strata::internal::Role::group, strata::internal::type_name<T>()};
    type.children = [](void* object, strata::internal::ChildVisitor& visitor) {
      auto& self = *static_cast<T*>(object);
      visit_stacked(strata::internal::node_of(self.module_), strata::internal::node_of(self.layout_), visitor);
    };
    type.copy = [](void* to, const void* from, strata::internal::PendingCopies& pending) {
      auto& target = *static_cast<T*>(to);
      const auto& source = *static_cast<const T*>(from);
      target.layout_ = source.layout_;
      pending.entries.push_back({&target.module_, &source.module_, &strata::internal::node_type<M>()});
    };
    return type;
  }
};

}  // namespace strata::nn::internal
