// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace strata::internal {
namespace {

constexpr Index tile = 16;            // elements along each side; one cache line of floats
constexpr Index shortest_memcpy = 8;  // elements in a run; below, the call costs more than it saves

struct CopyAxis {
  Index size;
  Index to_stride;
  Index from_stride;
};

// Width is a constant, so that this is one load and one store.
template <int Width>
void copy_element(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Width);
}

template <int Width>
void copy_plain(std::byte* to, const std::byte* from, const CopyAxis& rows, const CopyAxis& columns) {
  for (Index r = 0; r < rows.size; ++r) {
    std::byte* to_row = to + r * rows.to_stride * Width;
    const std::byte* from_row = from + r * rows.from_stride * Width;
    for (Index c = 0; c < columns.size; ++c) {
      copy_element<Width>(to_row + c * columns.to_stride * Width, from_row + c * columns.from_stride * Width);
    }
  }
}

template <int Width>
void copy_runs(std::byte* to, const std::byte* from, const CopyAxis& rows, Index length) {
  for (Index r = 0; r < rows.size; ++r) {
    std::memcpy(to + r * rows.to_stride * Width, from + r * rows.from_stride * Width,
                static_cast<std::size_t>(length * Width));
  }
}

// Neighbours stand side by side along the columns where they are written and along the rows where they are read. Tiles
// keep the cache lines of both sides in the first-level cache until they are used up.
template <int Width>
void copy_transposed(std::byte* to, const std::byte* from, const CopyAxis& rows, const CopyAxis& columns) {
  for (Index r = 0; r < rows.size; r += tile) {
    const CopyAxis tile_rows{std::min(tile, rows.size - r), rows.to_stride, 1};
    for (Index c = 0; c < columns.size; c += tile) {
      const CopyAxis tile_columns{std::min(tile, columns.size - c), 1, columns.from_stride};
      copy_plain<Width>(to + (r * rows.to_stride + c) * Width, from + (r + c * columns.from_stride) * Width, tile_rows,
                        tile_columns);
    }
  }
}

template <int Width>
void copy_axes(std::byte* to, const std::byte* from, std::span<const CopyAxis> axes) {
  if (axes.size() > 2) {
    for (Index i = 0; i < axes[0].size; ++i) {
      copy_axes<Width>(to + i * axes[0].to_stride * Width, from + i * axes[0].from_stride * Width, axes.subspan(1));
    }
    return;
  }
  const CopyAxis& rows = axes[0];
  const CopyAxis& columns = axes[1];
  if (columns.to_stride == 1 && columns.from_stride == 1 && columns.size >= shortest_memcpy) {
    copy_runs<Width>(to, from, rows, columns.size);
  } else if (columns.to_stride == 1 && rows.from_stride == 1) {
    copy_transposed<Width>(to, from, rows, columns);
  } else {
    copy_plain<Width>(to, from, rows, columns);
  }
}

// Outermost first, without axes of size 1, and neighbours that are one run of equal steps on both sides made one.
std::vector<CopyAxis> merged_axes(std::span<const Index> to, std::span<const Index> from, const Shape& shape) {
  std::vector<CopyAxis> axes;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const CopyAxis inner{shape.sizes()[i], to[i], from[i]};
    if (inner.size == 1) continue;
    if (!axes.empty()) {
      CopyAxis& outer = axes.back();
      if (outer.to_stride == inner.size * inner.to_stride && outer.from_stride == inner.size * inner.from_stride) {
        outer = {outer.size * inner.size, inner.to_stride, inner.from_stride};
        continue;
      }
    }
    axes.push_back(inner);
  }
  while (axes.size() < 2) axes.insert(axes.begin(), {1, 0, 0});
  return axes;
}

// The order of the loops is free: the axis along which reading is densest goes right before the innermost.
void bring_dense_axis_inside(std::vector<CopyAxis>& axes) {
  if (axes.back().from_stride == 1) return;
  const auto densest = std::find_if(axes.begin(), axes.end() - 1, [](const CopyAxis& a) { return a.from_stride == 1; });
  if (densest != axes.end() - 1) std::rotate(densest, densest + 1, axes.end() - 1);
}

}  // namespace

void copy_strided(std::byte* to, std::span<const Index> to_strides, const std::byte* from,
                  std::span<const Index> from_strides, const Shape& shape, int width) {
  if (shape.num_elements() == 0) return;
  std::vector<CopyAxis> axes = merged_axes(to_strides, from_strides, shape);
  bring_dense_axis_inside(axes);
  switch (width) {
    case 1:
      return copy_axes<1>(to, from, axes);
    case 2:
      return copy_axes<2>(to, from, axes);
    case 4:
      return copy_axes<4>(to, from, axes);
    default:
      return copy_axes<8>(to, from, axes);
  }
}

std::vector<Index> dense_strides(const Shape& shape) {
  std::vector<Index> strides(static_cast<std::size_t>(shape.rank()));
  Index step = 1;
  for (std::size_t axis = strides.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape.sizes()[axis];
  }
  return strides;
}

}  // namespace strata::internal
