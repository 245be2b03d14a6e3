// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/tensor_body.h"

#include <utility>

#include "strata/tensor/internal/recycler.h"

namespace strata::internal {
TensorBody::TensorBody(const Shape& form, DType type, std::size_t num_bytes)
    : shape(form),
      dtype(type),
      read_only(false),
      data(num_bytes == 0 ? nullptr : static_cast<std::byte*>(allocate_block(num_bytes, Alignment::vector))) {}

TensorBody::TensorBody(const Shape& form, DType type, std::byte* elements, bool foreign,
                       std::shared_ptr<const void> keep_alive)
    : shape(form), dtype(type), read_only(foreign), data(elements), owner(std::move(keep_alive)) {}

TensorBody::~TensorBody() {
  if (owner || read_only) return;
  release_block(data, static_cast<std::size_t>(shape.num_elements() * size_in_bytes(dtype)), Alignment::vector);
}

const TensorBody& empty_body() noexcept {
  static const TensorBody body(Shape{0}, DType::float32, 0);
  return body;
}

}  // namespace strata::internal
