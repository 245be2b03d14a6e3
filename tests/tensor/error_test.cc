// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "strata/tensor/activation.h"
#include "strata/tensor/create.h"
#include "strata/tensor/index.h"
#include "strata/tensor/manipulate.h"

namespace strata {
namespace {

using Call = std::function<Tensor(const Tensor& x)>;

// Of functions that are made of others, it is the one that was called that must be named.
TEST(Errors, NameTheOperationThatWasCalledWithAMissingAxis) {
  const Tensor index = tensor({0});
  const std::vector<std::pair<std::string, Call>> calls = {
      {"sum", [](const Tensor& x) { return sum(x, 7); }},
      {"prod", [](const Tensor& x) { return prod(x, 7); }},
      {"mean", [](const Tensor& x) { return mean(x, 7); }},
      {"variance", [](const Tensor& x) { return variance(x, 7); }},
      {"max", [](const Tensor& x) { return max(x, 7); }},
      {"min", [](const Tensor& x) { return min(x, 7); }},
      {"any", [](const Tensor& x) { return any(x, 7); }},
      {"all", [](const Tensor& x) { return all(x, 7); }},
      {"argmax", [](const Tensor& x) { return argmax(x, 7); }},
      {"argmin", [](const Tensor& x) { return argmin(x, 7); }},
      {"softmax", [](const Tensor& x) { return softmax(x, 7); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, 7); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, 7); }},
      {"transpose",
       [](const Tensor& x) {
         return transpose(x, {0, 7});
       }},
      {"swap_axes", [](const Tensor& x) { return swap_axes(x, 0, 7); }},
      {"move_axis", [](const Tensor& x) { return move_axis(x, 0, 7); }},
      {"expand_dims", [](const Tensor& x) { return expand_dims(x, 7); }},
      {"squeeze", [](const Tensor& x) { return squeeze(x, 7); }},
      {"flatten", [](const Tensor& x) { return flatten(x, 7); }},
      {"concatenate",
       [](const Tensor& x) {
         return concatenate({x, x}, 7);
       }},
      {"stack",
       [](const Tensor& x) {
         return stack({x, x}, 7);
       }},
      {"split_axis", [](const Tensor& x) { return split_axis(x, 2, 7)[0]; }},
      {"slice_axis", [](const Tensor& x) { return slice_axis(x, 7, 0, 1); }},
      {"flip", [](const Tensor& x) { return flip(x, 7); }},
      {"repeat", [](const Tensor& x) { return repeat(x, 2, 7); }},
      {"tile", [](const Tensor& x) { return tile(x, 2, 7); }},
      {"take", [&](const Tensor& x) { return take(x, index, 7); }},
      {"take_along_axis", [&](const Tensor& x) { return take_along_axis(x, index, 7); }},
      {"scatter_add", [&](const Tensor& x) { return scatter_add(x, index, x, 7); }},
  };
  for (const DType dtype : {DType::float32, DType::float16, DType::int32}) {
    const Tensor x = zeros({2, 3}, dtype);
    for (const auto& [name, call] : calls) {
      const auto run = [&x, &f = call] { static_cast<void>(f(x)); };
      EXPECT_THAT(run, testing::ThrowsMessage<ShapeError>(testing::StartsWith("[" + name + "] ")))
          << name << " of " << dtype;
    }
  }
}

}  // namespace
}  // namespace strata
