// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/nn/internal/member_layout.h"
#include "strata/nn/internal/member_observers.h"
#include "strata/tensor/gradient.h"

namespace strata::nn::internal {

// A tensor that the members of a stacked module are called with: one for all, or one for each along an axis.
struct MemberInput {
  Tensor value;
  MemberAxis axis;
};

// How gradients get through a call of all members.
enum class Recording {
  // Each member records on a tape of its own, in any thread; the call is one operation of the tape around it.
  by_member,
  // Members come one after the other and record on the tape around the call.
  in_place,
};

// One call of every member of a stacked module, by these steps: `begin` gives a copy of the module the variables of a
// member, `end` takes what its call made of them, `finish` gives the stacked module the new values of variables.
// Nothing is changed before that.
class MemberCalls {
 public:
  // What `finish` returns.
  struct Result {
    std::vector<Tensor> outputs;          // of the members, stacked
    std::optional<MemberLayout> changed;  // if the calls changed more than values of variables
  };

  // `owner` is the object that holds the stacked module. Throws ShapeError that names the variables or inputs that lack
  // members.
  MemberCalls(strata::internal::Node owner, strata::internal::Node stacked, const MemberLayout& layout,
              std::vector<MemberInput> inputs, Recording recording);
  ~MemberCalls();
  MemberCalls(const MemberCalls&) = delete;
  MemberCalls& operator=(const MemberCalls&) = delete;

  // Calls `call` with the number of every member, on the threads of the pool, or one after the other.
  void for_each(const std::function<void(Index)>& call) const;

  // For different members, in different threads. `module` is made like the stacked one; returns the member's inputs.
  std::vector<Tensor> begin(Index member, strata::internal::Node module);
  void end(Index member, strata::internal::Node module, std::vector<Tensor> outputs);

  // If the calls changed the graph (plain values, variables that came or went), the first of `members` becomes the
  // stacked module, with the layout that comes back; otherwise `stacked` gets the new values. Outputs are stacked along
  // `output_axes`. Throws StateError if members wrote variables that they share, or changed their graphs in different
  // ways; ShapeError if their outputs or new values differ in form.
  Result finish(std::span<const strata::internal::Node> members, std::span<const int> output_axes);

  // Throws StateError if the calls changed anything.
  void check_unchanged() const;

 private:
  struct Source;
  struct Member;
  struct Target;
  struct Joined;

  [[nodiscard]] std::vector<Target> targets(std::span<const strata::internal::Node> members,
                                            std::optional<MemberLayout>& changed) const;
  [[nodiscard]] bool is_written(std::size_t variable, std::size_t target) const;
  [[nodiscard]] std::vector<Tensor> join(std::vector<Joined> parts);

  strata::internal::Node stacked_;
  const MemberLayout& layout_;
  Recording recording_;
  MemberObservers observers_;
  std::vector<strata::internal::Leaf> leaves_;  // of the stacked module
  std::vector<Source> sources_;                 // the variables, then the inputs
  std::vector<Member> members_;
};

}  // namespace strata::nn::internal
