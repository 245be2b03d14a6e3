// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "strata/tensor/shape.h"

namespace strata::internal {

// Where the taps of windows lie on one axis of an image: tap t of window w is at (w window_step + offset + t tap_step)
// / divisor, and reads zero where that is no position of the image.
struct PatchAxis {
  Index size = 1;
  Index taps = 1;
  Index windows = 1;
  Index window_step = 1;
  Index offset = 0;
  Index tap_step = 1;
  Index divisor = 1;

  // A window for each position, of that position alone.
  [[nodiscard]] bool is_identity() const {
    return taps == 1 && window_step == 1 && offset == 0 && divisor == 1 && windows == size;
  }

  // The position of a tap, or -1.
  [[nodiscard]] Index position(Index window, Index tap) const {
    const Index place = window * window_step + offset + tap * tap_step;
    return place >= 0 && place % divisor == 0 && place / divisor < size ? place / divisor : -1;
  }
};

// Images [count, *sizes, channels] as a matrix with a row for each window, [count * windows, taps * group_channels], in
// which a tap reads the channels from first_channel on.
template <class T>
struct PatchMatrix {
  const T* images;
  std::array<PatchAxis, 3> axes;
  Index channels;
  Index first_channel;
  Index group_channels;

  [[nodiscard]] Index columns() const { return axes[0].taps * axes[1].taps * axes[2].taps * group_channels; }

  // True if the matrix lies in memory as it is, with `channels` between neighbouring rows.
  [[nodiscard]] bool is_stored() const {
    return axes[0].is_identity() && axes[1].is_identity() && axes[2].is_identity();
  }
};

// Writes the rows [begin, end) one after the other.
void copy_patches(const PatchMatrix<float>& patches, Index begin, Index end, float* to);
void copy_patches(const PatchMatrix<double>& patches, Index begin, Index end, double* to);

}  // namespace strata::internal
