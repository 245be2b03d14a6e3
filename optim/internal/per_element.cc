// SPDX-License-Identifier: Apache-2.0
#include "strata/optim/internal/per_element.h"

#include <cmath>
#include <limits>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/scalar.h"

namespace strata::optim::internal {
namespace {

// Stays at the largest number, as in optax.
void add_one(Tensor& count) {
  std::int32_t& value = count.mutable_data<std::int32_t>()[0];
  if (value < std::numeric_limits<std::int32_t>::max()) ++value;
}

}  // namespace

Memory PerElementRule::init(std::span<const Tensor> params) const {
  Memory memory;
  if (layout_.count) memory.scalars.push_back({*layout_.count, scalar(std::int32_t{0})});
  if (!learning_rate_.is_constant()) memory.scalars.push_back({layout_.schedule_count, scalar(std::int32_t{0})});
  for (const SlotSpec& spec : layout_.slots) {
    Memory::Slot slot{spec.path, {}};
    for (const Tensor& param : params) slot.values.push_back(full_like(param, spec.initial));
    memory.slots.push_back(std::move(slot));
  }
  return memory;
}

StepFacts PerElementRule::begin_step(Memory& memory) const {
  const auto count_of = [](const Memory::Scalar& scalar) { return scalar.value.item<Index>(); };
  const Index schedule_step = learning_rate_.is_constant() ? 0 : count_of(memory.scalars.back());
  const StepFacts facts{.learning_rate = learning_rate_(schedule_step),
                        .number = layout_.count ? count_of(memory.scalars.front()) + 1 : 1};
  if (!std::isfinite(facts.learning_rate)) {
    throw ValueError("[Schedule] the learning rate of step " + std::to_string(schedule_step) + " is " +
                     to_string(Scalar(facts.learning_rate)) + ". Let the schedule give finite numbers.");
  }
  for (Memory::Scalar& scalar : memory.scalars) add_one(scalar.value);
  return facts;
}

void PerElementRule::update(std::span<Tensor> updates, Memory& memory, std::span<const Tensor> params) const {
  for (Tensor& update : updates) static_cast<void>(update.mutable_bytes());  // what can throw comes first
  const StepFacts facts = begin_step(memory);
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i].dtype() == DType::float64) {
      update_one<double>(facts, updates[i], memory, i, params[i]);
    } else {
      update_one<float>(facts, updates[i], memory, i, params[i]);
    }
  }
}

template <class T>
void PerElementRule::update_one(const StepFacts& facts, Tensor& update, Memory& memory, std::size_t index,
                                const Tensor& param) const {
  const DType stored = update.dtype();
  const auto pointers = [&] {
    SlotPointers<T> result{};
    for (std::size_t s = 0; s < memory.slots.size(); ++s) {
      result[s] = memory.slots[s].values[index].template mutable_data<T>().data();
    }
    return result;
  };
  if (stored == dtype_of<T>) {  // without a copy of a tensor, which may allocate
    return run(facts, update.size(), update.mutable_data<T>().data(), param.data<T>().data(), pointers());
  }
  Tensor wide = update.astype(dtype_of<T>);
  const Tensor wide_param = param.astype(dtype_of<T>);
  for (Memory::Slot& slot : memory.slots) slot.values[index] = slot.values[index].astype(dtype_of<T>);
  run(facts, wide.size(), wide.mutable_data<T>().data(), wide_param.template data<T>().data(), pointers());
  update = wide.astype(stored);
  for (Memory::Slot& slot : memory.slots) slot.values[index] = slot.values[index].astype(stored);
}

}  // namespace strata::optim::internal
