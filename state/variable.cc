// SPDX-License-Identifier: Apache-2.0
#include "strata/state/variable.h"

#include "strata/state/internal/quote.h"
#include "strata/tensor/error.h"

namespace strata {

void Variable::set_value(Tensor value) {
  if (value.shape() != value_.shape()) {
    throw ShapeError("[Variable::set_value] the variable is " + describe(value_) + ", the new value " +
                     describe(value) + ". Use reset to change the shape.");
  }
  if (value.dtype() != value_.dtype()) {
    throw DTypeError("[Variable::set_value] the variable is " + describe(value_) + ", the new value " +
                     describe(value) + ". Convert with astype, or use reset to change the element type.");
  }
  value_ = std::move(value);
}

void Variable::set_metadata(std::string_view name, MetadataValue value) { metadata_.set(name, std::move(value)); }

const std::string* Variable::tag() const {
  const MetadataValue* value = metadata_.find("tag");
  return value == nullptr ? nullptr : std::get_if<std::string>(value);
}

bool operator==(const Variable& a, const Variable& b) {
  return &a.kind() == &b.kind() && a.metadata() == b.metadata() && identical(a.value(), b.value());
}

std::string describe(const Variable& variable) {
  return internal::escape(variable.kind().name) + " " + describe(variable.value());
}

}  // namespace strata
