// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/tensor_body.h"

#include <new>
#include <utility>

namespace strata::internal {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

TensorBody::TensorBody(const Shape& form, DType type, std::size_t num_bytes)
    : shape(form),
      dtype(type),
      read_only(false),
      data(num_bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new(num_bytes, alignment))) {}

TensorBody::TensorBody(const Shape& form, DType type, std::byte* elements, bool foreign,
                       std::shared_ptr<const void> keep_alive)
    : shape(form), dtype(type), read_only(foreign), data(elements), owner(std::move(keep_alive)) {}

TensorBody::~TensorBody() {
  if (!owner && !read_only) ::operator delete(data, alignment);
}

const TensorBody& empty_body() noexcept {
  static const TensorBody body(Shape{0}, DType::float32, 0);
  return body;
}

}  // namespace strata::internal
