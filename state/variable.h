// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "strata/state/kind.h"
#include "strata/state/metadata.h"
#include "strata/tensor/tensor.h"

namespace strata {

// A tensor with a kind and metadata: the leaf of a module and of a State. Reads as its tensor wherever one is expected.
//
// The kind is chosen by the C++ type that made the variable and stays with it when it is copied into a `Variable`. A
// variable that a typed field holds keeps that field's kind: assigning a state to a module changes values and metadata
// only.
class Variable {
 public:
  using strata_kind_self = Variable;
  using strata_kind_base = void;
  static constexpr std::string_view strata_kind_name = "Variable";

  Variable() : Variable(Tensor()) {}
  explicit Variable(Tensor value, Metadata metadata = {})
      : value_(std::move(value)), metadata_(std::move(metadata)), kind_(&kind_of<Variable>()) {}

  // A variable of a kind known at run time only.
  Variable(const Kind& kind, Tensor value, Metadata metadata = {})
      : value_(std::move(value)), metadata_(std::move(metadata)), kind_(&kind) {}

  [[nodiscard]] const Tensor& value() const noexcept { return value_; }
  operator const Tensor&() const noexcept { return value_; }

  // Replaces the value by one of the same shape and element type. Throws ShapeError or DTypeError otherwise.
  void set_value(Tensor value);

  // Replaces the value by any other.
  void reset(const Tensor& value) { value_ = value; }
  void reset(Tensor&& value) noexcept { value_ = std::move(value); }

  [[nodiscard]] const Kind& kind() const noexcept { return *kind_; }

  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  void set_metadata(Metadata metadata) noexcept { metadata_ = std::move(metadata); }
  void set_metadata(std::string_view name, MetadataValue value);

  // The text under the metadata name `tag`, or null.
  [[nodiscard]] const std::string* tag() const;

 private:
  Tensor value_;
  Metadata metadata_;
  const Kind* kind_;
};

// Equal kinds, metadata, and identical tensors.
[[nodiscard]] bool operator==(const Variable& a, const Variable& b);

// "Param float32[12, 64]"
[[nodiscard]] std::string describe(const Variable& variable);

// Makes a struct a kind of variable, known by its name and by the kind that it specialises:
//
//   struct Adapter : Param { STRATA_KIND(Adapter, Param) };
#define STRATA_KIND(Name, Base)                                                         \
  using strata_kind_self = Name;                                                        \
  using strata_kind_base = Base;                                                        \
  static constexpr std::string_view strata_kind_name = #Name;                           \
  Name() : Name(::strata::Tensor()) {}                                                  \
  explicit Name(::strata::Tensor value, ::strata::Metadata metadata = {})               \
      : Name(::strata::kind_of<Name>(), std::move(value), std::move(metadata)) {}       \
                                                                                        \
 protected:                                                                             \
  Name(const ::strata::Kind& kind, ::strata::Tensor value, ::strata::Metadata metadata) \
      : Base(kind, std::move(value), std::move(metadata)) {}                            \
                                                                                        \
 public:

struct Param : Variable {
  STRATA_KIND(Param, Variable)
};
struct LoRAParam : Param {
  STRATA_KIND(LoRAParam, Param)
};
struct BatchStat : Variable {
  STRATA_KIND(BatchStat, Variable)
};
struct Cache : Variable {
  STRATA_KIND(Cache, Variable)
};
struct Intermediate : Variable {
  STRATA_KIND(Intermediate, Variable)
};
struct Perturbation : Intermediate {
  STRATA_KIND(Perturbation, Intermediate)
};
struct RngState : Variable {
  STRATA_KIND(RngState, Variable)
};
struct RngKey : RngState {
  STRATA_KIND(RngKey, RngState)
};
struct RngCount : RngState {
  STRATA_KIND(RngCount, RngState)
};
struct OptState : Variable {
  STRATA_KIND(OptState, Variable)
};
struct OptArray : OptState {
  STRATA_KIND(OptArray, OptState)
};
struct OptVariable : OptState {
  STRATA_KIND(OptVariable, OptState)
};

}  // namespace strata
