// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/tensor/convolution.h"
#include "strata/tensor/internal/recycler.h"

namespace strata::internal {

// One spatial axis of a convolution.
struct ConvAxis {
  Index size;  // of x
  Index taps;
  Index windows;
  Index stride;
  PadWidth padding;
  Index input_dilation;
  Index kernel_dilation;
};

// Shapes that fit, taken apart.
struct ConvGeometry {
  Shape batch;
  List<ConvAxis> axes;
  Index in;
  Index out;
  Index groups;

  [[nodiscard]] Shape result_shape() const;
};

// Throws as conv does.
[[nodiscard]] ConvGeometry conv_geometry(const Shape& x, const Shape& kernel, const ConvWindow& window);

// Throws what conv would throw of this window whatever x is; there are 1 to 3 spatial axes.
void check_window(const ConvWindow& window, int spatial_axes);

}  // namespace strata::internal
