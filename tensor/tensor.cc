// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/tensor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/internal/tensor_access.h"

namespace strata {
namespace {

using internal::TensorAccess;

template <class... A>
std::shared_ptr<internal::TensorBody> make_body(A&&... arguments) {
  return std::allocate_shared<internal::TensorBody>(internal::RecyclingAllocator<internal::TensorBody>(),
                                                    std::forward<A>(arguments)...);
}

// The position counted from the front. Throws ValueError that starts with `[operation]`.
Index normalize_index(Index index, Index size, const char* operation) {
  if (index < -size || index >= size) {
    throw ValueError("[" + std::string(operation) + "] index " + std::to_string(index) +
                     " is out of range: the axis has " + std::to_string(size) + " entries.");
  }
  return index < 0 ? index + size : index;
}

[[noreturn]] void throw_too_large(DType dtype, const Shape& shape, const std::string& bytes) {
  throw ShapeError("[Tensor] " + std::string(name(dtype)) + to_string(shape) + " takes " + bytes +
                   ". Ask for a smaller shape.");
}

// A view of consecutive leading entries, whose gradient is zero outside of them.
Tensor leading_entries(const Tensor& t, Index first, const Shape& shape) {
  return differentiable(
      TensorAccess::alias(t, first, shape), {t}, [first, whole = t.shape(), dtype = t.dtype()](const Tensor& dy) {
        Tensor dx = Tensor::uninitialized(whole, dtype);
        const auto width = static_cast<std::size_t>(size_in_bytes(dtype));
        const std::span<std::byte> out = dx.mutable_bytes();
        std::fill(out.begin(), out.end(), std::byte{0});
        std::copy_n(dy.bytes().begin(), dy.num_bytes(),
                    out.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(first) * width));
        return std::vector<Cotangent>{std::move(dx)};
      });
}

[[noreturn]] void throw_reshape(const Tensor& x, std::span<const Index> sizes, const char* why) {
  std::string text;
  for (const Index size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  throw ShapeError("[Tensor::reshape] " + to_string(x.shape()) + " cannot become [" + text + "]: " + why + ".");
}

// The shape that x takes: one of the sizes may be -1.
Shape infer_size(const Tensor& x, std::span<const Index> sizes) {
  internal::List<Index> result(sizes.begin(), sizes.end());
  const auto unknown = std::find(result.begin(), result.end(), -1);
  Index known = 1;
  for (auto size = result.begin(); size != result.end(); ++size) {
    if (size == unknown) continue;
    if (*size == -1) throw_reshape(x, sizes, "only one size can be -1");
    if (*size < 0) throw_reshape(x, sizes, "sizes cannot be negative");
    if (__builtin_mul_overflow(known, *size, &known)) throw_reshape(x, sizes, "the number of elements differs");
  }
  if (unknown == result.end()) return Shape(result);
  if (known == 0 ? x.size() != 0 : x.size() % known != 0) {
    throw_reshape(x, sizes, "no size in place of -1 gives the number of elements");
  }
  *unknown = known == 0 ? 0 : x.size() / known;
  return Shape(result);
}

}  // namespace

Tensor internal::TensorAccess::alias(const Tensor& t, Index first, const Shape& shape) {
  const TensorBody& body = t.body();
  std::byte* const data =
      body.data + static_cast<std::size_t>(first) * static_cast<std::size_t>(size_in_bytes(body.dtype));
  return Tensor(make_body(shape, body.dtype, data, body.read_only, body.owner ? body.owner : t.body_));
}

Tensor::Tensor(DType dtype, Shape shape, const void* elements, std::size_t count) {
  if (static_cast<Index>(count) != shape.num_elements()) {
    throw ShapeError("[Tensor] " + std::to_string(count) + " elements do not fill the shape " + to_string(shape) + ".");
  }
  *this = uninitialized(shape, dtype);
  if (count != 0) std::memcpy(body_->data, elements, num_bytes());
}

Tensor Tensor::uninitialized(const Shape& shape, DType dtype) {
  const Index elements = shape.num_elements();
  const Index width = size_in_bytes(dtype);
  if (elements > std::numeric_limits<Index>::max() / width) {
    throw_too_large(dtype, shape, "more bytes than fit 64 bits");
  }
  const auto bytes = static_cast<std::size_t>(elements * width);
  try {
    return Tensor(make_body(shape, dtype, bytes));
  } catch (const std::bad_alloc&) {
    throw_too_large(dtype, shape, std::to_string(bytes) + " bytes, which the system does not have");
  }
}

Tensor Tensor::view_bytes(DType dtype, Shape shape, const void* elements, std::size_t count,
                          std::shared_ptr<const void> owner) {
  if (static_cast<Index>(count) != shape.num_elements()) {
    throw ShapeError("[Tensor::view] " + std::to_string(count) + " elements do not fill the shape " + to_string(shape) +
                     ".");
  }
  auto* const data = const_cast<std::byte*>(static_cast<const std::byte*>(elements));
  return Tensor(make_body(shape, dtype, data, true, std::move(owner)));
}

std::size_t Tensor::num_bytes() const noexcept {
  return static_cast<std::size_t>(size()) * static_cast<std::size_t>(size_in_bytes(dtype()));
}

std::span<const std::byte> Tensor::bytes() const& { return {body().data, num_bytes()}; }

bool Tensor::owns_elements() const noexcept {
  if (!body_) return true;
  return body_.use_count() == 1 && !body_->read_only && (!body_->owner || body_->owner.use_count() == 1);
}

std::span<std::byte> Tensor::mutable_bytes() & {
  if (is_tracked()) {
    throw GradientError(
        "[Tensor] a tracked tensor cannot be written to: its gradient would be wrong. Write to a copy "
        "made by stop_gradient.");
  }
  const std::size_t count = num_bytes();
  if (count == 0) return {};
  if (owns_elements()) {
    // Another thread may just have let go of the elements: what it did with them comes before our writes.
    std::atomic_thread_fence(std::memory_order_acquire);
  } else {
    Tensor copy = uninitialized(shape(), dtype());
    std::memcpy(copy.body_->data, body_->data, count);
    *this = std::move(copy);
  }
  return {body_->data, count};
}

const void* Tensor::typed(DType dtype) const {
  if (dtype != this->dtype()) {
    throw DTypeError("[Tensor::data] the elements are " + std::string(name(this->dtype())) + ", not " +
                     std::string(name(dtype)) + ". Convert with astype.");
  }
  return bytes().data();
}

void* Tensor::mutable_typed(DType dtype) {
  static_cast<void>(typed(dtype));
  return mutable_bytes().data();
}

const void* Tensor::single_element() const {
  if (size() != 1)
    throw ShapeError("[Tensor::item] there is not exactly one element: the tensor is " + describe(*this) + ".");
  return bytes().data();
}

const void* Tensor::element(std::initializer_list<Index> position) const {
  if (static_cast<int>(position.size()) != rank()) {
    throw ShapeError("[Tensor::at] " + std::to_string(position.size()) + " positions for a tensor of shape " +
                     to_string(shape()) + ".");
  }
  Index flat = 0;
  const Index* size = body().shape.begin();
  for (const Index index : position) {
    flat = flat * *size + normalize_index(index, *size, "Tensor::at");
    ++size;
  }
  return bytes().data() + static_cast<std::size_t>(flat) * static_cast<std::size_t>(size_in_bytes(dtype()));
}

Tensor Tensor::operator[](Index index) const {
  if (rank() == 0) throw ShapeError("[Tensor::operator[]] a scalar has no entries.");
  const Index position = normalize_index(index, shape()[0], "Tensor::operator[]");
  const Shape entry = shape().axes(1, rank());
  return leading_entries(*this, position * entry.num_elements(), entry);
}

Tensor Tensor::slice(Index begin, Index end) const {
  if (rank() == 0) throw ShapeError("[Tensor::slice] a scalar has no entries.");
  const Index count = shape()[0];
  const Index first = begin < 0 ? begin + count : begin;
  const Index last = end < 0 ? end + count : end;
  if (first < 0 || last > count || first > last) {
    throw ValueError("[Tensor::slice] there are no entries " + std::to_string(begin) + " to " + std::to_string(end) +
                     ": the axis has " + std::to_string(count) + " entries.");
  }
  const Shape entry = shape().axes(1, rank());
  return leading_entries(*this, first * entry.num_elements(), Shape{last - first}.append(entry));
}

void Tensor::set(Index index, const Tensor& value) & {
  if (rank() == 0) throw ShapeError("[Tensor::set] a scalar has no entries.");
  const Index position = normalize_index(index, shape()[0], "Tensor::set");
  const Shape entry = shape().axes(1, rank());
  if (value.shape() != entry) {
    throw ShapeError("[Tensor::set] the value has shape " + to_string(value.shape()) + ", the entry " +
                     to_string(entry) + ".");
  }
  if (value.dtype() != dtype()) {
    throw DTypeError("[Tensor::set] the value is " + std::string(name(value.dtype())) + ", the tensor " +
                     std::string(name(this->dtype())) + ". Convert with astype.");
  }
  if (value.is_tracked()) {
    throw GradientError("[Tensor::set] a tracked value would lose its gradient. Use stack or concatenate.");
  }
  const Tensor source = value;  // keeps the bytes as they are if value is a slice of this tensor
  const std::span<std::byte> all = mutable_bytes();
  if (source.size() == 0) return;
  std::memcpy(all.data() + static_cast<std::size_t>(position) * source.num_bytes(), source.bytes().data(),
              source.num_bytes());
}

Tensor Tensor::reshape(std::initializer_list<Index> sizes) const {
  return reshape(infer_size(*this, {sizes.begin(), sizes.size()}));
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (shape.num_elements() != size()) {
    throw_reshape(*this, shape.sizes(), "the number of elements differs");
  }
  return differentiable(TensorAccess::alias(*this, 0, shape), {*this}, [original = this->shape()](const Tensor& dy) {
    return std::vector<Cotangent>{dy.reshape(original)};
  });
}

bool Tensor::shares_elements_with(const Tensor& other) const noexcept {
  return bytes().data() == other.bytes().data() && num_bytes() == other.num_bytes();
}

bool identical(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
}

std::string describe(const Tensor& tensor) { return std::string(name(tensor.dtype())) + to_string(tensor.shape()); }

}  // namespace strata
