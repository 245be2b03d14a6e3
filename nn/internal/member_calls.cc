// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/internal/member_calls.h"

#include <algorithm>
#include <utility>

#include "strata/nn/internal/member_axis.h"
#include "strata/state/graph_def.h"
#include "strata/state/internal/listing.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/tape.h"
#include "strata/tensor/internal/tensor_access.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/thread_pool.h"

namespace strata::nn::internal {
namespace {

using strata::internal::collect_leaves;
using strata::internal::equal_graphs;
using strata::internal::Leaf;
using strata::internal::list_offenders;
using strata::internal::Node;
using strata::internal::TensorAccess;
using strata::internal::Trail;

// Leaves without paths.
class VariableCollector final : public strata::internal::WalkHandler {
 public:
  void variable(const Trail&, Variable& variable, Node) override { variables.push_back(&variable); }

  std::vector<Variable*> variables;
};

std::vector<Variable*> variables_of(Node module) {
  VariableCollector collector;
  strata::internal::walk(module, collector);
  return std::move(collector.variables);
}

// What is needed to carry gradients back through a call of all members.
struct RecordedCall {
  struct OfMember {
    std::unique_ptr<GradientTape> tape;
    std::vector<Tensor> watched;
    std::vector<Tensor> outputs;
  };
  std::vector<OfMember> members;
  std::vector<MemberAxis> input_axes;
  std::vector<int> output_axes;

  std::vector<Tensor> gradients(Index member, std::span<const Cotangent> cotangents) {
    OfMember& recorded = members[static_cast<std::size_t>(member)];
    std::vector<Tensor> outputs;
    std::vector<Tensor> seeds;
    for (std::size_t i = 0; i < cotangents.size(); ++i) {
      if (!cotangents[i]) continue;
      outputs.push_back(recorded.outputs[i]);
      seeds.push_back(member_of(*cotangents[i], output_axes[i], member));
    }
    return recorded.tape->gradient(outputs, seeds, recorded.watched);
  }

  // Members in parallel; gradients of what they share are added in their order.
  std::vector<Cotangent> backward(std::span<const Cotangent> cotangents) {
    std::vector<std::vector<Tensor>> of_members(members.size());
    parallel_for(0, static_cast<Index>(members.size()), 1, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) of_members[static_cast<std::size_t>(i)] = gradients(i, cotangents);
    });
    std::vector<Cotangent> result;
    for (std::size_t input = 0; input < input_axes.size(); ++input) {
      std::vector<Tensor> terms;
      for (std::vector<Tensor>& of_member : of_members) terms.push_back(std::move(of_member[input]));
      if (input_axes[input]) {
        result.emplace_back(stack(terms, *input_axes[input]));
        continue;
      }
      Tensor sum = std::move(terms.front());
      for (std::size_t i = 1; i < terms.size(); ++i) sum += terms[i];
      result.emplace_back(std::move(sum));
    }
    return result;
  }
};

const char* name_of(Recording recording) { return recording == Recording::in_place ? "[Repeat] " : "[Ensemble] "; }

void check_input(const MemberInput& input, std::size_t number, Index size, Recording recording) {
  if (!input.axis) return;
  const Shape& shape = input.value.shape();
  if (has_axis(shape.rank(), *input.axis) && shape[*input.axis] == size) return;
  throw ShapeError(name_of(recording) + std::string("mapped argument ") + std::to_string(number) + " is " +
                   describe(input.value) + "; it takes " + std::to_string(size) + " members along axis " +
                   std::to_string(*input.axis) + ".");
}

bool all_alike(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& t) {
    return t.dtype() == tensors.front().dtype() && t.shape() == tensors.front().shape();
  });
}

}  // namespace

// What members take entries of.
struct MemberCalls::Source {
  Tensor value;
  MemberAxis axis;
  bool tracked;                   // by a tape around the call
  std::vector<Tensor> unstacked;  // where members record on that tape
};

struct MemberCalls::Member {
  std::unique_ptr<GradientTape> tape;
  std::vector<Tensor> given;   // of all sources
  std::vector<Tensor> values;  // of the variables after the call
  std::vector<Tensor> outputs;
  bool same_graph = true;
};

// A variable of the stacked module after the call.
struct MemberCalls::Target {
  Leaf leaf;
  MemberAxis axis;
  std::optional<std::size_t> source;  // none for a new variable
};

// The tensors of all members that become one.
struct MemberCalls::Joined {
  std::vector<Tensor> of_members;
  int axis;
};

MemberCalls::MemberCalls(Node owner, Node stacked, const MemberLayout& layout, std::vector<MemberInput> inputs,
                         Recording recording)
    : stacked_(stacked),
      layout_(layout),
      recording_(recording),
      observers_(owner, layout.size),
      leaves_(leaves_of(stacked, layout)),
      members_(static_cast<std::size_t>(layout.size)) {
  for (std::size_t i = 0; i < inputs.size(); ++i) check_input(inputs[i], i, layout.size, recording);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    sources_.push_back({leaves_[i].variable->value(), layout.places[i].axis, false, {}});
  }
  for (MemberInput& input : inputs) sources_.push_back({std::move(input.value), input.axis, false, {}});
  for (Source& source : sources_) {
    source.tracked = source.value.is_tracked() && is_floating(source.value.dtype());
    if (source.tracked && source.axis && recording == Recording::in_place) {
      source.unstacked = unstack(source.value, *source.axis);
    }
  }
}

MemberCalls::~MemberCalls() = default;

void MemberCalls::for_each(const std::function<void(Index)>& call) const {
  if (recording_ == Recording::in_place) {
    const ObserverScope observed(observers());
    for (Index member = 0; member < layout_.size; ++member) call(member);
    return;
  }
  parallel_for(0, layout_.size, 1, [&](Index first, Index last) {
    for (Index member = first; member < last; ++member) {
      const strata::internal::RecordingScope scope;
      const ObserverScope observed(Observers{});
      call(member);
    }
  });
}

std::vector<Tensor> MemberCalls::begin(Index member, Node module) {
  Member& state = members_[static_cast<std::size_t>(member)];
  for (const Source& source : sources_) {
    if (!source.unstacked.empty()) {
      state.given.push_back(source.unstacked[static_cast<std::size_t>(member)]);
    } else if (recording_ == Recording::in_place) {
      state.given.push_back(member_of(source.value, source.axis, member));
    } else {
      const Tensor plain = member_of(stop_gradient(source.value), source.axis, member);
      if (source.tracked && state.tape == nullptr) state.tape = std::make_unique<GradientTape>();
      state.given.push_back(source.tracked ? state.tape->watch(plain) : plain);
    }
  }
  const std::vector<Variable*> variables = variables_of(module);
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i]->reset(state.given[i]);
  if (recording_ == Recording::by_member && observers_.wants_gradients() && state.tape == nullptr) {
    state.tape = std::make_unique<GradientTape>();
  }
  observers_.begin(member, module, state.tape.get());
  return {state.given.begin() + static_cast<std::ptrdiff_t>(variables.size()), state.given.end()};
}

void MemberCalls::end(Index member, Node module, std::vector<Tensor> outputs) {
  Member& state = members_[static_cast<std::size_t>(member)];
  state.same_graph = equal_graphs(module, stacked_);
  for (const Variable* variable : variables_of(module)) state.values.push_back(variable->value());
  state.outputs = std::move(outputs);
  for (Tensor& handed_out : observers_.end(member)) state.outputs.push_back(std::move(handed_out));
  if (recording_ == Recording::in_place) return;
  for (const std::vector<Tensor>* made : {&state.values, &state.outputs}) {
    for (const Tensor& value : *made) {
      if (!value.is_tracked()) continue;
      if (TensorAccess::tape(value).tape->scope() == strata::internal::RecordingScope::current()) continue;
      throw GradientError(
          "[Ensemble] a member returns or keeps a tensor that is watched outside of the ensemble. Pass it as an "
          "argument.");
    }
  }
}

std::vector<MemberCalls::Target> MemberCalls::targets(std::span<const Node> members,
                                                      std::optional<MemberLayout>& changed) const {
  std::vector<Target> result;
  const auto same = [](const Member& member) { return member.same_graph; };
  if (std::all_of(members_.begin(), members_.end(), same)) {
    for (std::size_t i = 0; i < leaves_.size(); ++i) result.push_back({leaves_[i], layout_.places[i].axis, i});
    return result;
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (equal_graphs(members.front(), members[i])) continue;
    throw StateError(name_of(recording_) + std::string("the call changed member ") + std::to_string(i) +
                     " in another way than the first one. Members may differ in the values of variables alone.");
  }
  changed = MemberLayout{layout_.size, layout_.axes, {}};
  for (Leaf& leaf : collect_leaves(members.front())) {
    const MemberLayout::Place* place = layout_.find(leaf.path);
    std::optional<std::size_t> source;
    if (place != nullptr) source = static_cast<std::size_t>(place - layout_.places.data());
    const MemberAxis axis =
        place != nullptr ? place->axis : layout_.axes.axes_of(State{{leaf.path, *leaf.variable}}).front();
    changed->places.push_back({leaf.path, axis});
    result.push_back({std::move(leaf), axis, source});
  }
  return result;
}

bool MemberCalls::is_written(std::size_t source, std::size_t target) const {
  return std::any_of(members_.begin(), members_.end(), [&](const Member& member) {
    return !member.values[target].shares_elements_with(member.given[source]);
  });
}

MemberCalls::Result MemberCalls::finish(std::span<const Node> members, std::span<const int> output_axes) {
  Result result;
  const std::vector<Target> all = targets(members, result.changed);
  std::vector<Joined> parts;
  std::vector<std::string> shared_offenders;
  std::vector<std::string> form_offenders;
  const auto add = [&](std::size_t number, int axis, std::vector<Tensor> Member::*list, const std::string& name) {
    parts.push_back({{}, axis});
    for (const Member& member : members_) parts.back().of_members.push_back((member.*list)[number]);
    const std::vector<Tensor>& values = parts.back().of_members;
    if (!all_alike(values) || !has_axis(values.front().rank() + 1, axis)) form_offenders.push_back(name);
  };
  for (std::size_t i = 0; i < output_axes.size(); ++i) {
    add(i, output_axes[i], &Member::outputs, "result " + std::to_string(i));
  }
  observers_.check_alike();
  for (const std::string& name : observers_.names()) add(parts.size(), 0, &Member::outputs, name);
  const std::size_t num_outputs = parts.size();
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Target& target = all[i];
    if (target.source && !is_written(*target.source, i)) continue;
    if (!target.axis) {
      shared_offenders.push_back(to_string(target.leaf.path) + " (" + describe(*target.leaf.variable) + ")");
      continue;
    }
    written.push_back(i);
    add(i, *target.axis, &Member::values, to_string(target.leaf.path));
  }
  if (!shared_offenders.empty()) {
    throw StateError(name_of(recording_) + std::string("members write variables that they share: ") +
                     list_offenders(shared_offenders) + ". Give these an axis, or call nn::eval if it is statistics.");
  }
  if (!form_offenders.empty()) {
    throw ShapeError(name_of(recording_) +
                     std::string("shapes or element types differ between members, or there is no place for "
                                 "their axis: ") +
                     list_offenders(form_offenders) + ".");
  }
  result.outputs = join(std::move(parts));
  observers_.hand_on({result.outputs.begin() + static_cast<std::ptrdiff_t>(output_axes.size()),
                      result.outputs.begin() + static_cast<std::ptrdiff_t>(num_outputs)});
  for (const Target& target : all) {
    if (target.source) target.leaf.variable->reset(sources_[*target.source].value);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    all[written[i]].leaf.variable->reset(result.outputs[num_outputs + i]);
  }
  result.outputs.resize(output_axes.size());
  return result;
}

std::vector<Tensor> MemberCalls::join(std::vector<Joined> parts) {
  std::vector<Tensor> result;
  if (recording_ == Recording::in_place) {
    for (const Joined& part : parts) result.push_back(stack(part.of_members, part.axis));
    return result;
  }
  std::vector<Tensor> tracked;
  std::vector<std::size_t> positions;
  auto call = std::make_shared<RecordedCall>();
  call->members.resize(members_.size());
  for (const Joined& part : parts) {
    std::vector<Tensor> plain;
    bool any_tracked = false;
    for (const Tensor& value : part.of_members) {
      any_tracked = any_tracked || (value.is_tracked() && is_floating(value.dtype()));
      plain.push_back(stop_gradient(value));
    }
    result.push_back(stack(plain, part.axis));
    if (!any_tracked) continue;
    for (std::size_t i = 0; i < members_.size(); ++i) call->members[i].outputs.push_back(part.of_members[i]);
    call->output_axes.push_back(part.axis);
    positions.push_back(result.size() - 1);
    tracked.push_back(result.back());
  }
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].tracked) continue;
    inputs.push_back(sources_[i].value);
    call->input_axes.push_back(sources_[i].axis);
    for (std::size_t m = 0; m < members_.size(); ++m) call->members[m].watched.push_back(members_[m].given[i]);
  }
  for (Tensor& zeros : observers_.zeros_of_all()) {
    inputs.push_back(std::move(zeros));
    call->input_axes.emplace_back(0);
  }
  for (std::size_t m = 0; m < members_.size(); ++m) {
    for (Tensor& zeros : observers_.zeros_of(static_cast<Index>(m))) {
      call->members[m].watched.push_back(std::move(zeros));
    }
  }
  for (std::size_t m = 0; m < members_.size(); ++m) call->members[m].tape = std::move(members_[m].tape);
  tracked = differentiable(std::move(tracked), inputs,
                           [call](std::span<const Cotangent> cotangents) { return call->backward(cotangents); });
  for (std::size_t i = 0; i < positions.size(); ++i) result[positions[i]] = tracked[i];
  return result;
}

void MemberCalls::check_unchanged() const {
  std::vector<std::string> offenders;
  for (const Member& member : members_) {
    if (!member.same_graph) offenders = {"plain values or which variables there are"};
  }
  for (std::size_t i = 0; offenders.empty() && i < leaves_.size(); ++i) {
    if (is_written(i, i)) offenders.push_back(to_string(leaves_[i].path));
  }
  if (!offenders.empty()) {
    throw StateError(name_of(recording_) + std::string("the call of a const object changed ") +
                     list_offenders(offenders) + ".");
  }
}

}  // namespace strata::nn::internal
