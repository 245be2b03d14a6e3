// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/initializers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <span>
#include <utility>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::nn {

Initializer::Initializer(std::string text, Function function) : text_(std::move(text)), function_(std::move(function)) {
  if (!function_) throw ValueError(fmt::format("[Initializer] {}: the function is empty.", text_));
}

Tensor Initializer::operator()(RandomKey key, const Shape& shape, DType dtype) const {
  Tensor result = function_(key, shape, dtype);
  if (result.shape() == shape && result.dtype() == dtype) return result;
  const std::string text =
      fmt::format("[Initializer] {} gave {}, expected {}{}.", text_, describe(result), name(dtype), to_string(shape));
  if (result.shape() != shape) throw ShapeError(text);
  throw DTypeError(text);
}

std::ostream& operator<<(std::ostream& out, const Initializer& initializer) { return out << initializer.text_; }

namespace initializers {
namespace {

using Arguments = std::vector<std::string>;

std::string call_text(const char* name, const Arguments& arguments) {
  return fmt::format("{}({})", name, fmt::join(arguments, ", "));
}

std::string call_text(const char* name, const FanAxes& axes, Arguments arguments = {}) {
  const FanAxes standard;
  const auto add = [&](const char* which, const std::vector<int>& values, const std::vector<int>& usual) {
    if (values != usual) arguments.push_back(fmt::format("{}=[{}]", which, fmt::join(values, ", ")));
  };
  add("in", axes.in, standard.in);
  add("out", axes.out, standard.out);
  add("batch", axes.batch, standard.batch);
  return call_text(name, arguments);
}

void check_finite(const char* operation, const char* argument, double value) {
  if (std::isfinite(static_cast<float>(value))) return;
  throw ValueError(fmt::format("[{}] {} is {}. Give a finite number.", operation, argument, value));
}

// An initializer whose `draw(key, shape)` gives float32.
template <class Draw>
Initializer drawing(const std::string& text, const Draw& draw) {
  return {text, [text, draw](RandomKey key, const Shape& shape, DType dtype) {
            if (!is_floating(dtype)) {
              throw DTypeError(fmt::format("[{}] cannot draw {}. Ask for a floating type.", text, name(dtype)));
            }
            return draw(key, shape).astype(dtype);
          }};
}

Initializer filling(const std::string& text, double value) {
  return {text, [value](RandomKey, const Shape& shape, DType dtype) { return full(shape, value, dtype); }};
}

Tensor scaled(Tensor x, float factor) {
  for (float& element : x.mutable_data<float>()) element *= factor;
  return x;
}

struct Fans {
  double in = 1;
  double out = 1;
};

Fans count_fans(const std::string& text, const Shape& shape, const FanAxes& axes) {
  const auto size_of = [&](const std::vector<int>& of) {
    double size = 1;
    for (const int axis : of) {
      if (axis < -shape.rank() || axis >= shape.rank()) {
        throw ShapeError(fmt::format("[{}] a kernel of shape {} has no axis {}. Give it one, or name other axes.", text,
                                     to_string(shape), axis));
      }
      size *= static_cast<double>(shape[axis]);
    }
    return size;
  };
  const double in = size_of(axes.in);
  const double out = size_of(axes.out);
  const double window = static_cast<double>(shape.num_elements()) / in / out / size_of(axes.batch);
  return {in * window, out * window};
}

double effective_fan(const Fans& fans, FanMode mode) {
  switch (mode) {
    case FanMode::fan_in:
      return fans.in;
    case FanMode::fan_out:
      return fans.out;
    case FanMode::fan_avg:
      return (fans.in + fans.out) / 2;
    case FanMode::fan_geo_avg:
      break;
  }
  return std::sqrt(fans.in * fans.out);
}

// Rounds where JAX rounds.
Tensor draw_of_variance(float variance, Distribution distribution, RandomKey key, const Shape& shape) {
  constexpr float truncated_stddev = 0.87962566103423978F;  // of a standard normal number cut at two
  switch (distribution) {
    case Distribution::truncated_normal:
      return scaled(random::truncated_normal(key, shape, -2, 2), std::sqrt(variance) / truncated_stddev);
    case Distribution::normal:
      return scaled(random::normal(key, shape), std::sqrt(variance));
    case Distribution::uniform:
      break;
  }
  return scaled(random::uniform(key, shape, -1, 1), std::sqrt(3 * variance));
}

Initializer of_variance(const std::string& text, double scale, FanMode mode, Distribution distribution, FanAxes axes) {
  return drawing(text, [=, axes = std::move(axes)](RandomKey key, const Shape& shape) {
    const Fans fans = count_fans(text, shape, axes);
    if (shape.num_elements() == 0) return full(shape, 0.0, DType::float32);
    const auto variance = static_cast<float>(scale / effective_fan(fans, mode));
    return draw_of_variance(variance, distribution, key, shape);
  });
}

Initializer named_variance(const char* name, double scale, FanMode mode, Distribution distribution, FanAxes axes) {
  const std::string text = call_text(name, axes);
  return of_variance(text, scale, mode, distribution, std::move(axes));
}

Tensor draw_orthogonal(const std::string& text, float scale, int column_axis, RandomKey key, const Shape& shape) {
  if (shape.rank() < 2 || column_axis < -shape.rank() || column_axis >= shape.rank()) {
    throw ShapeError(fmt::format("[{}] the shape is {}. Give it two axes or more, the column axis among them.", text,
                                 to_string(shape)));
  }
  if (shape.num_elements() == 0) return full(shape, 0.0, DType::float32);
  const Index columns = shape[column_axis];
  const Tensor matrix = random::orthogonal(key, shape.num_elements() / columns, columns);
  const Shape columns_last = shape.without_axis(column_axis).append(Shape{columns});
  return scaled(move_axis(matrix.reshape(columns_last), -1, column_axis), scale);
}

Tensor draw_delta_orthogonal(const std::string& text, float scale, int column_axis, RandomKey key, const Shape& shape) {
  if (shape.rank() < 3 || shape.rank() > 5 || shape[-2] > shape[-1]) {
    throw ShapeError(fmt::format("[{}] the shape is {}. Give [*window, in, out] with 1 to 3 window axes, in <= out.",
                                 text, to_string(shape)));
  }
  Tensor kernel = full(shape, 0.0, DType::float32);
  if (shape.num_elements() == 0) return kernel;
  const Tensor matrix = draw_orthogonal(text, scale, column_axis, key, shape.axes(-2, shape.rank()));
  Index middle = 0;
  for (const Index size : shape.axes(0, -2)) middle = middle * size + (size - 1) / 2;
  const std::span<const float> elements = matrix.data<float>();
  std::copy(elements.begin(), elements.end(), kernel.mutable_data<float>().begin() + middle * matrix.size());
  return kernel;
}

const char* text_of(FanMode mode) {
  switch (mode) {
    case FanMode::fan_in:
      return "fan_in";
    case FanMode::fan_out:
      return "fan_out";
    case FanMode::fan_avg:
      return "fan_avg";
    case FanMode::fan_geo_avg:
      break;
  }
  return "fan_geo_avg";
}

const char* text_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::truncated_normal:
      return "truncated_normal";
    case Distribution::normal:
      return "normal";
    case Distribution::uniform:
      break;
  }
  return "uniform";
}

Arguments orthogonal_arguments(double scale, int column_axis) {
  Arguments arguments;
  if (scale != 1) arguments.push_back(fmt::format("{}", scale));
  if (column_axis != -1) arguments.push_back(fmt::format("column_axis={}", column_axis));
  return arguments;
}

}  // namespace

Initializer variance_scaling(double scale, FanMode mode, Distribution distribution, FanAxes axes) {
  check_finite("variance_scaling", "scale", scale);
  if (scale < 0) throw ValueError(fmt::format("[variance_scaling] scale is {}. Give 0 or more.", scale));
  const Arguments arguments{fmt::format("{}", scale), text_of(mode), text_of(distribution)};
  const std::string text = call_text("variance_scaling", axes, arguments);
  return of_variance(text, scale, mode, distribution, std::move(axes));
}

Initializer lecun_normal(FanAxes axes) {
  return named_variance("lecun_normal", 1, FanMode::fan_in, Distribution::truncated_normal, std::move(axes));
}

Initializer lecun_uniform(FanAxes axes) {
  return named_variance("lecun_uniform", 1, FanMode::fan_in, Distribution::uniform, std::move(axes));
}

Initializer glorot_normal(FanAxes axes) {
  return named_variance("glorot_normal", 1, FanMode::fan_avg, Distribution::truncated_normal, std::move(axes));
}

Initializer glorot_uniform(FanAxes axes) {
  return named_variance("glorot_uniform", 1, FanMode::fan_avg, Distribution::uniform, std::move(axes));
}

Initializer he_normal(FanAxes axes) {
  return named_variance("he_normal", 2, FanMode::fan_in, Distribution::truncated_normal, std::move(axes));
}

Initializer he_uniform(FanAxes axes) {
  return named_variance("he_uniform", 2, FanMode::fan_in, Distribution::uniform, std::move(axes));
}

Initializer normal(double stddev) {
  check_finite("normal", "stddev", stddev);
  return drawing(fmt::format("normal({})", stddev), [stddev](RandomKey key, const Shape& shape) {
    return scaled(random::normal(key, shape), static_cast<float>(stddev));
  });
}

Initializer uniform(double scale) {
  check_finite("uniform", "scale", scale);
  return drawing(fmt::format("uniform({})", scale), [scale](RandomKey key, const Shape& shape) {
    return scaled(random::uniform(key, shape), static_cast<float>(scale));
  });
}

Initializer truncated_normal(double stddev) {
  check_finite("truncated_normal", "stddev", stddev);
  return drawing(fmt::format("truncated_normal({})", stddev), [stddev](RandomKey key, const Shape& shape) {
    return scaled(random::truncated_normal(key, shape, -2, 2), static_cast<float>(stddev));
  });
}

Initializer orthogonal(double scale, int column_axis) {
  check_finite("orthogonal", "scale", scale);
  const std::string text = call_text("orthogonal", orthogonal_arguments(scale, column_axis));
  return drawing(text, [=](RandomKey key, const Shape& shape) {
    return draw_orthogonal(text, static_cast<float>(scale), column_axis, key, shape);
  });
}

Initializer delta_orthogonal(double scale, int column_axis) {
  check_finite("delta_orthogonal", "scale", scale);
  const std::string text = call_text("delta_orthogonal", orthogonal_arguments(scale, column_axis));
  return drawing(text, [=](RandomKey key, const Shape& shape) {
    return draw_delta_orthogonal(text, static_cast<float>(scale), column_axis, key, shape);
  });
}

Initializer zeros() { return filling("zeros()", 0); }

Initializer ones() { return filling("ones()", 1); }

Initializer constant(double value) { return filling(fmt::format("constant({})", value), value); }

}  // namespace initializers
}  // namespace strata::nn
