// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "strata/tensor/gradient.h"
#include "strata/tensor/scalar.h"
#include "strata/tensor/tensor.h"

namespace strata {
namespace {

constexpr Index entries_at_an_end = 3;  // of an axis too long to print whole

std::string element_text(const Tensor& scalar) {
  return dispatch(scalar.dtype(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) return to_string(Scalar(scalar.item<T>()));
    if constexpr (std::is_same_v<T, double>) return to_string(Scalar(scalar.item<double>()));
    const auto number = scalar.item<float>();
    return std::isnan(number) ? std::string("nan") : fmt::format("{}", number);
  });
}

void append_text(std::string& text, const Tensor& tensor, std::size_t indent) {
  if (tensor.rank() == 0) {
    text += element_text(tensor);
    return;
  }
  const Index count = tensor.size(0);
  const std::string separator = tensor.rank() == 1 ? ", " : ",\n" + std::string(indent + 1, ' ');
  text += '[';
  for (Index i = 0; i < count; ++i) {
    if (i != 0) text += separator;
    if (count > 2 * entries_at_an_end + 1 && i == entries_at_an_end) {
      text += "..." + separator;
      i = count - entries_at_an_end;
    }
    append_text(text, tensor[i], indent + 1);
  }
  text += ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  std::string text;
  if (tensor.size() != 0) append_text(text, stop_gradient(tensor), 0);
  return out << text << (text.empty() ? "" : " ") << describe(tensor);
}

}  // namespace strata
