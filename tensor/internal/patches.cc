// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/patches.h"

#include <algorithm>
#include <cstring>

namespace strata::internal {
namespace {

template <class T>
void copy_block(const T* from, T* to, Index count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

// Runs of a few elements are what there is most of: blocks of a fixed size, the last one drawn back to end with the
// run, are several times as fast as a call of memcpy.
template <class T>
void copy_run(const T* from, Index count, T* to) {
  constexpr Index block = 8, half = block / 2;
  if (count > 8 * block) return copy_block(from, to, count);
  if (count >= block) {
    for (Index i = 0; i < count - block; i += block) copy_block(from + i, to + i, block);
    return copy_block(from + count - block, to + count - block, block);
  }
  if (count >= half) {
    copy_block(from, to, half);
    return copy_block(from + count - half, to + count - half, half);
  }
  if (count > 0) to[0] = from[0];
  if (count > 1) to[1] = from[1];
  if (count > 2) to[2] = from[2];
}

// Windows that follow each other on the last axis of an image.
struct WindowRun {
  Index first;
  Index count;
};

// Writes one line of taps for each window of a run, `step` elements apart; `line` is where the axis begins.
template <class T>
void copy_lines(const PatchMatrix<T>& patches, const T* line, WindowRun run, T* to, Index step) {
  const PatchAxis axis = patches.axes[2];
  const Index channels = patches.group_channels;
  const bool side_by_side = axis.divisor == 1 && axis.tap_step == 1 && channels == patches.channels;
  for (Index window = run.first; window < run.first + run.count; ++window, to += step) {
    if (side_by_side) {
      const Index start = window * axis.window_step + axis.offset;
      const Index first = std::clamp<Index>(-start, 0, axis.taps);
      const Index last = std::clamp<Index>(axis.size - start, first, axis.taps);
      std::fill_n(to, first * channels, T{});
      if (first < last) copy_run(line + (start + first) * channels, (last - first) * channels, to + first * channels);
      std::fill_n(to + last * channels, (axis.taps - last) * channels, T{});
      continue;
    }
    for (Index tap = 0; tap < axis.taps; ++tap) {
      const Index position = axis.position(window, tap);
      if (position < 0) {
        std::fill_n(to + tap * channels, channels, T{});
      } else {
        copy_run(line + position * patches.channels + patches.first_channel, channels, to + tap * channels);
      }
    }
  }
}

template <class T>
void clear_lines(Index length, Index count, T* to, Index step) {
  for (Index i = 0; i < count; ++i) std::fill_n(to + i * step, length, T{});
}

// The rows of a run of windows, which have their place on the first two axes in common.
template <class T>
void copy_run_of_rows(const PatchMatrix<T>& patches, Index image, std::array<Index, 2> place, WindowRun run, T* to) {
  const auto& [outer, middle, inner] = patches.axes;
  const Index length = inner.taps * patches.group_channels;
  const Index columns = patches.columns();
  for (Index i = 0; i < outer.taps; ++i) {
    const Index row = outer.position(place[0], i);
    for (Index j = 0; j < middle.taps; ++j, to += length) {
      const Index column = middle.position(place[1], j);
      if (row < 0 || column < 0) {
        clear_lines(length, run.count, to, columns);
        continue;
      }
      const Index line = (image * outer.size + row) * middle.size + column;
      copy_lines(patches, patches.images + line * inner.size * patches.channels, run, to, columns);
    }
  }
}

template <class T>
void copy_rows(const PatchMatrix<T>& patches, Index begin, Index end, T* to) {
  const auto& [outer, middle, inner] = patches.axes;
  for (Index row = begin; row < end;) {
    const WindowRun run{row % inner.windows, std::min(inner.windows - row % inner.windows, end - row)};
    const Index lines = row / inner.windows;
    const std::array<Index, 2> place{lines / middle.windows % outer.windows, lines % middle.windows};
    copy_run_of_rows(patches, lines / middle.windows / outer.windows, place, run, to);
    row += run.count;
    to += run.count * patches.columns();
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
