// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/internal/scan/row_masks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/internal/integers.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent::internal {

Tensor checked_lengths(const Tensor& lengths, const Shape& batch, Index time, const char* operation) {
  if (!is_integer(lengths.dtype())) {
    throw DTypeError("[" + std::string(operation) + "] lengths must be integers, got " + describe(lengths) + ".");
  }
  if (lengths.shape() != batch) {
    throw ShapeError("[" + std::string(operation) + "] lengths have shape " + to_string(lengths.shape()) +
                     ", the batch axes " + to_string(batch) + ".");
  }
  strata::internal::for_each_integer(lengths, [&](auto length) {
    if (std::cmp_greater_equal(length, 0) && std::cmp_less_equal(length, time)) return;
    throw ValueError("[" + std::string(operation) + "] length " + std::to_string(length) + " is not in [0, " +
                     std::to_string(time) + "], the number of steps.");
  });
  return lengths.astype(DType::int64);
}

void check_flags(const std::string& name, const Tensor& flags, const Shape& places, const char* operation) {
  const std::string message = "[" + std::string(operation) + "] `" + name + "` is " + describe(flags);
  if (flags.dtype() != DType::boolean) throw DTypeError(message + ", expected bool.");
  if (flags.shape() == places) return;
  throw ShapeError(message + ", expected one flag for each step: " + to_string(places) + ".");
}

void check_mask(const std::optional<Tensor>& mask, const std::optional<Tensor>& lengths, const Shape& places,
                const char* operation) {
  if (!mask) return;
  if (lengths) {
    throw ValueError("[" + std::string(operation) +
                     "] both `mask` and `seq_lengths` are given. Clear the mask behind each length and leave "
                     "seq_lengths out.");
  }
  check_flags("mask", *mask, places, operation);
}

Tensor block_zero_gradient(const Tensor& x) {
  return differentiable(stop_gradient(x), {x}, [](const Tensor& dy) {
    const bool matters = dispatch(dy.dtype(), [&]<class T>(T) {
      const auto elements = dy.data<T>();
      return std::any_of(elements.begin(), elements.end(), [](T e) { return convert_element<bool>(e); });
    });
    return std::vector<Cotangent>{matters ? Cotangent(dy) : Cotangent()};
  });
}

Tensor rows_longer_than(const Tensor& lengths, Index t) { return lengths > t; }

Tensor select_rows(const Tensor& condition, const Tensor& a, const Tensor& b) {
  std::vector<Index> sizes(condition.shape().begin(), condition.shape().end());
  sizes.resize(static_cast<std::size_t>(a.rank()), 1);
  return where(condition.reshape(Shape(sizes)), a, b);
}

void clear_invalid_rows(const Tensor& x, Tensor& flags) {
  if (!is_floating(x.dtype()) || x.size() == 0) return;
  const std::span<bool> rows = flags.mutable_data<bool>();
  const std::size_t features = static_cast<std::size_t>(x.size()) / rows.size();
  dispatch(x.dtype(), [&]<class T>(T) {
    const auto numbers = x.data<T>();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row * features);
      rows[row] = rows[row] && std::all_of(first, first + static_cast<std::ptrdiff_t>(features),
                                           [](T number) { return std::isfinite(convert_element<double>(number)); });
    }
  });
}

bool all_true(const Tensor& flags) {
  const std::span<const bool> values = flags.data<bool>();
  return std::all_of(values.begin(), values.end(), [](bool flag) { return flag; });
}

bool any_true(const Tensor& flags) {
  const std::span<const bool> values = flags.data<bool>();
  return std::any_of(values.begin(), values.end(), [](bool flag) { return flag; });
}

std::vector<Tensor> steps_of(const Tensor& x) {
  if (x.size(0) == 0) return {};
  std::vector<Tensor> steps = split_axis(x, x.size(0), 0);
  const Shape step = x.shape().without_axis(0);
  for (Tensor& each : steps) each = each.reshape(step);
  return steps;
}

std::vector<Tensor> cut_rows(const Tensor& x, std::span<const Index> sizes) {
  std::vector<Tensor> parts;
  parts.reserve(sizes.size());
  std::vector<Shape> shapes;
  const Tensor values = stop_gradient(x);
  Index begin = 0;
  for (const Index size : sizes) {
    parts.push_back(values.slice(begin, begin + size));
    shapes.push_back(parts.back().shape());
    begin += size;
  }
  if (!x.is_tracked() || parts.empty()) return parts;
  return differentiable(std::move(parts), std::span<const Tensor>(&x, 1),
                        [shapes = std::move(shapes), dtype = x.dtype()](std::span<const Cotangent> cotangents) {
                          std::vector<Tensor> gradients;
                          for (std::size_t i = 0; i < shapes.size(); ++i) {
                            gradients.push_back(cotangents[i] ? *cotangents[i] : zeros(shapes[i], dtype));
                          }
                          return std::vector<Cotangent>{concatenate(gradients, 0)};
                        });
}

}  // namespace strata::recurrent::internal
