// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/strided_copy.h"
#include "strata/tensor/internal/tensor_access.h"
#include "strata/tensor/manipulate.h"

// Of manipulate.h, what copies a block into or out of a larger tensor.
namespace strata {
namespace {

using internal::dense_strides;
using internal::TensorAccess;
using internal::with_size;

// Copies to the block of a larger tensor that begins with element `first`.
void copy_into(Tensor& whole, Index first, const Tensor& block) {
  if (block.size() == 0) return;
  const int width = size_in_bytes(block.dtype());
  internal::copy_strided(whole.mutable_bytes().data() + first * width, dense_strides(whole.shape()),
                         block.bytes().data(), dense_strides(block.shape()), block.shape(), width);
}

Tensor copy_out_of(const Tensor& whole, Index first, const Shape& shape) {
  Tensor block = Tensor::uninitialized(shape, whole.dtype());
  if (block.size() == 0) return block;
  const int width = size_in_bytes(whole.dtype());
  internal::copy_strided(block.mutable_bytes().data(), dense_strides(shape), whole.bytes().data() + first * width,
                         dense_strides(whole.shape()), shape, width);
  return block;
}

// Positions [begin, begin + count) along an axis, not tracked; a view where they are one run.
Tensor part(const Tensor& x, int axis, Index begin, Index count) {
  const Index step = x.shape().axes(axis + 1, x.rank()).num_elements();
  const Shape shape = with_size(x.shape(), axis, count);
  if (x.shape().axes(0, axis).num_elements() == 1) return TensorAccess::alias(x, begin * step, shape);
  return copy_out_of(x, begin * step, shape);
}

DType common_dtype(std::span<const Tensor> tensors) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = promote(dtype, t.dtype());
  return dtype;
}

// The shape of tensors joined along an axis.
Shape joined_shape(std::span<const Tensor> tensors, int axis) {
  const Shape& first = tensors[0].shape();
  Index size = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Shape& shape = tensors[i].shape();
    if (shape.rank() != first.rank() || with_size(shape, axis, 0) != with_size(first, axis, 0)) {
      throw ShapeError("[concatenate] tensor " + std::to_string(i) + " has shape " + to_string(shape) +
                       ", the first one " + to_string(first) + ". All sizes but those of axis " + std::to_string(axis) +
                       " must be equal.");
    }
    size = internal::add_sizes(size, shape[axis], "concatenate");
  }
  return with_size(first, axis, size);
}

Tensor joined(std::span<const Tensor> tensors, int axis, const Shape& shape) {
  Tensor result = Tensor::uninitialized(shape, tensors[0].dtype());
  const Index step = shape.axes(axis + 1, shape.rank()).num_elements();
  Index position = 0;
  for (const Tensor& t : tensors) {
    copy_into(result, position * step, t);
    position += t.size(axis);
  }
  return result;
}

// How a cotangent goes back to those of the joined tensors that are tracked.
Backward parting(std::span<const Tensor> tensors, int axis) {
  struct Part {
    Index size;
    bool wanted;
  };
  std::vector<Part> parts;
  for (const Tensor& t : tensors) parts.push_back({t.size(axis), t.is_tracked()});
  return [parts, axis](std::span<const Cotangent> dy) {
    std::vector<Cotangent> result;
    Index position = 0;
    for (const Part& p : parts) {
      result.push_back(p.wanted ? Cotangent(part(*dy[0], axis, position, p.size)) : std::nullopt);
      position += p.size;
    }
    return result;
  };
}

}  // namespace

Tensor concatenate(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) throw ValueError("[concatenate] there are no tensors. Give one or more.");
  const int position = tensors[0].shape().normalize_axis(axis, "concatenate");
  const Shape shape = joined_shape(tensors, position);
  const DType dtype = common_dtype(tensors);
  internal::List<Tensor> inputs;
  for (const Tensor& t : tensors) inputs.push_back(t.astype(dtype));
  Tensor result = joined(inputs, position, shape);
  if (std::none_of(inputs.begin(), inputs.end(), [](const Tensor& t) { return t.is_tracked(); })) return result;
  return differentiable({std::move(result)}, inputs, parting(inputs, position))[0];
}

Tensor concatenate(std::initializer_list<Tensor> tensors, int axis) {
  return concatenate(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  if (tensors.empty()) throw ValueError("[stack] there are no tensors. Give one or more.");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].shape() != tensors[0].shape()) {
      throw ShapeError("[stack] tensor " + std::to_string(i) + " has shape " + to_string(tensors[i].shape()) +
                       ", the first one " + to_string(tensors[0].shape()) + ". All must be equal.");
    }
  }
  const int rank = tensors[0].rank() + 1;
  if (axis < -rank || axis >= rank) {
    throw ShapeError("[stack] there is no position " + std::to_string(axis) + " for a new axis: the shapes are " +
                     to_string(tensors[0].shape()) + ".");
  }
  const int position = axis < 0 ? axis + rank : axis;
  internal::List<Tensor> expanded;
  for (const Tensor& t : tensors) expanded.push_back(expand_dims(t, position));
  return concatenate(expanded, position);
}

Tensor stack(std::initializer_list<Tensor> tensors, int axis) {
  return stack(std::span<const Tensor>(tensors.begin(), tensors.size()), axis);
}

std::vector<Tensor> split_axis(const Tensor& x, Index sections, int axis) {
  const int position = x.shape().normalize_axis(axis, "split_axis");
  const bool uneven = sections < 1 || x.size(position) % sections != 0;
  if (uneven || sections > std::max<Index>(x.size(position), 1)) {  // no list of empty parts without end
    throw ShapeError("[split_axis] axis " + std::to_string(position) + " of " + to_string(x.shape()) +
                     " cannot be cut into " + std::to_string(sections) + " equal sections.");
  }
  const Index size = x.size(position) / sections;
  std::vector<Tensor> parts;
  parts.reserve(static_cast<std::size_t>(sections));
  for (Index i = 0; i < sections; ++i) parts.push_back(part(x, position, i * size, size));
  if (!x.is_tracked()) return parts;
  const Shape shape = parts[0].shape();
  return differentiable(std::move(parts), std::span<const Tensor>(&x, 1),
                        [shape, position, dtype = x.dtype(), whole = x.shape()](std::span<const Cotangent> cotangents) {
                          std::vector<Tensor> gradients;
                          for (const Cotangent& dy : cotangents) gradients.push_back(dy ? *dy : zeros(shape, dtype));
                          return std::vector<Cotangent>{joined(gradients, position, whole)};
                        });
}

Tensor slice_axis(const Tensor& x, int axis, Index begin, Index end) {
  const int position = x.shape().normalize_axis(axis, "slice_axis");
  const Index count = x.size(position);
  const Index first = begin < 0 ? begin + count : begin;
  const Index last = end < 0 ? end + count : end;
  if (first < 0 || last > count || first > last) {
    throw ValueError("[slice_axis] there are no positions " + std::to_string(begin) + " to " + std::to_string(end) +
                     ": axis " + std::to_string(position) + " of " + to_string(x.shape()) + " has " +
                     std::to_string(count) + ".");
  }
  return differentiable(part(x, position, first, last - first), {x},
                        [first, position, whole = x.shape(), dtype = x.dtype()](const Tensor& dy) {
                          Tensor dx = zeros(whole, dtype);
                          const Index step = whole.axes(position + 1, whole.rank()).num_elements();
                          copy_into(dx, first * step, dy);
                          return std::vector<Cotangent>{std::move(dx)};
                        });
}

Tensor pad(const Tensor& x, std::span<const PadWidth> widths, Scalar value) {
  if (widths.size() != static_cast<std::size_t>(x.rank())) {
    throw ShapeError("[pad] " + std::to_string(widths.size()) + " widths for a tensor of shape " +
                     to_string(x.shape()) + ". Give one for each axis.");
  }
  internal::List<Index> sizes;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto [before, after] = widths[i];
    if (before < 0 || after < 0) {
      throw ValueError("[pad] the width of axis " + std::to_string(i) + " is negative: " + std::to_string(before) +
                       ", " + std::to_string(after) + ".");
    }
    sizes.push_back(internal::add_sizes(internal::add_sizes(before, x.shape().sizes()[i], "pad"), after, "pad"));
  }
  const Shape shape{std::span<const Index>(sizes)};
  const internal::List<Index> strides = dense_strides(shape);
  Index first = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) first += widths[i].before * strides[i];
  Tensor result = full(shape, value, x.dtype());
  copy_into(result, first, x);
  return differentiable(std::move(result), {x}, [first, original = x.shape()](const Tensor& dy) {
    return std::vector<Cotangent>{copy_out_of(dy, first, original)};
  });
}

Tensor pad(const Tensor& x, std::initializer_list<PadWidth> widths, Scalar value) {
  return pad(x, std::span<const PadWidth>(widths.begin(), widths.size()), value);
}

}  // namespace strata
