// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/patches.h"

#include <algorithm>

namespace strata::internal {
namespace {

// The taps of one window along the last axis; `line` is where that axis begins in the image.
template <class T>
T* copy_line(const PatchMatrix<T>& patches, const T* line, Index window, T* to) {
  const PatchAxis& axis = patches.axes[2];
  const Index channels = patches.group_channels;
  if (axis.divisor == 1 && axis.tap_step == 1 && channels == patches.channels) {
    const Index start = window * axis.window_step + axis.offset;
    const Index first = std::clamp<Index>(-start, 0, axis.taps);
    const Index last = std::clamp<Index>(axis.size - start, first, axis.taps);
    to = std::fill_n(to, first * channels, T{});
    if (first < last) to = std::copy_n(line + (start + first) * channels, (last - first) * channels, to);
    return std::fill_n(to, (axis.taps - last) * channels, T{});
  }
  for (Index tap = 0; tap < axis.taps; ++tap) {
    const Index position = axis.position(window, tap);
    to = position < 0 ? std::fill_n(to, channels, T{})
                      : std::copy_n(line + position * patches.channels + patches.first_channel, channels, to);
  }
  return to;
}

template <class T>
T* copy_patch(const PatchMatrix<T>& patches, Index image, const std::array<Index, 3>& window, T* to) {
  const auto& [outer, middle, inner] = patches.axes;
  for (Index i = 0; i < outer.taps; ++i) {
    const Index row = outer.position(window[0], i);
    for (Index j = 0; j < middle.taps; ++j) {
      const Index column = middle.position(window[1], j);
      if (row < 0 || column < 0) {
        to = std::fill_n(to, inner.taps * patches.group_channels, T{});
        continue;
      }
      const Index line = (image * outer.size + row) * middle.size + column;
      to = copy_line(patches, patches.images + line * inner.size * patches.channels, window[2], to);
    }
  }
  return to;
}

template <class T>
void copy_rows(const PatchMatrix<T>& patches, Index begin, Index end, T* to) {
  const auto& [outer, middle, inner] = patches.axes;
  Index rest = begin / inner.windows;
  std::array<Index, 3> window{0, rest % middle.windows, begin % inner.windows};
  rest /= middle.windows;
  window[0] = rest % outer.windows;
  Index image = rest / outer.windows;
  for (Index row = begin; row < end; ++row) {
    to = copy_patch(patches, image, window, to);
    if (++window[2] < inner.windows) continue;
    window[2] = 0;
    if (++window[1] < middle.windows) continue;
    window[1] = 0;
    if (++window[0] < outer.windows) continue;
    window[0] = 0;
    ++image;
  }
}

}  // namespace

void copy_patches(const PatchMatrix<float>& patches, Index begin, Index end, float* to) {
  copy_rows(patches, begin, end, to);
}
void copy_patches(const PatchMatrix<double>& patches, Index begin, Index end, double* to) {
  copy_rows(patches, begin, end, to);
}

}  // namespace strata::internal
