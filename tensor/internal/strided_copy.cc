// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "strata/tensor/thread_pool.h"

namespace strata::internal {
namespace {

constexpr Index shortest_memcpy = 8;          // elements in a run; below, the call costs more than it saves
constexpr Index bytes_per_task = 256 * 1024;  // some 30 us of copying

// Elements along each side of a tile: one cache line.
template <int Width>
constexpr Index tile = 64 / Width;

// 16 bytes as elements, for any machine with vectors of that size.
template <int Width>
struct VectorOfWidth {
  using Element = std::conditional_t<
      Width == 1, std::uint8_t,
      std::conditional_t<Width == 2, std::uint16_t, std::conditional_t<Width == 4, std::uint32_t, std::uint64_t>>>;
  using type [[gnu::vector_size(16)]] = Element;
};
template <int Width>
using VectorOf = typename VectorOfWidth<Width>::type;

constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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

// a0 b0 a1 b1 ... of the lower (Half 0) or upper (Half 1) halves.
template <std::size_t Half, class Vector, std::size_t... lane>
Vector interleaved(Vector a, Vector b, std::index_sequence<lane...>) {
  constexpr std::size_t lanes = sizeof...(lane);
  return __builtin_shufflevector(a, b, (Half * lanes / 2 + lane / 2 + lane % 2 * lanes)...);
}

// Transposes the square of Lanes x Lanes elements in `rows`: each round deals the two halves of the rows out like
// cards.
template <class Vector, std::size_t Lanes>
std::array<Vector, Lanes> transposed(std::array<Vector, Lanes> rows) {
  constexpr std::make_index_sequence<Lanes> all_lanes;
  for (std::size_t round = 1; round < Lanes; round *= 2) {
    std::array<Vector, Lanes> dealt;
    for (std::size_t i = 0; i < Lanes / 2; ++i) {
      dealt[2 * i] = interleaved<0>(rows[i], rows[i + Lanes / 2], all_lanes);
      dealt[2 * i + 1] = interleaved<1>(rows[i], rows[i + Lanes / 2], all_lanes);
    }
    rows = dealt;
  }
  return rows;
}

// Reads whole cache lines into a buffer, and writes whole ones from it. Without the buffer, lines whose distance is a
// large power of two would drive each other out of the cache before they are used up.
template <int Width>
void copy_tile(std::byte* to, const std::byte* from, Index to_stride, Index from_stride) {
  using Vector = VectorOf<Width>;
  constexpr Index size = tile<Width>;
  constexpr Index lanes = 16 / Width;
  std::array<std::array<Vector, 4>, size> columns;
  for (Index c = 0; c < size; ++c) std::memcpy(&columns[at(c)], from + c * from_stride * Width, 64);
  for (Index r = 0; r < size; r += lanes) {
    std::array<std::array<Vector, 4>, lanes> lines;
    for (Index c = 0; c < size; c += lanes) {
      std::array<Vector, lanes> square;
      for (Index i = 0; i < lanes; ++i) square[at(i)] = columns[at(c + i)][at(r / lanes)];
      square = transposed(square);
      for (Index i = 0; i < lanes; ++i) lines[at(i)][at(c / lanes)] = square[at(i)];
    }
    for (Index i = 0; i < lanes; ++i) std::memcpy(to + (r + i) * to_stride * Width, &lines[at(i)], 64);
  }
}

// Neighbours stand side by side along the columns where they are written, and along the rows where they are read.
template <int Width>
void copy_transposed(std::byte* to, const std::byte* from, const CopyAxis& rows, const CopyAxis& columns) {
  constexpr Index size = tile<Width>;
  for (Index r = 0; r < rows.size; r += size) {
    const Index height = std::min(size, rows.size - r);
    for (Index c = 0; c < columns.size; c += size) {
      const Index width = std::min(size, columns.size - c);
      std::byte* to_tile = to + (r * rows.to_stride + c) * Width;
      const std::byte* from_tile = from + (r + c * columns.from_stride) * Width;
      if (height == size && width == size) {
        copy_tile<Width>(to_tile, from_tile, rows.to_stride, columns.from_stride);
      } else {
        copy_plain<Width>(to_tile, from_tile, {height, rows.to_stride, 1}, {width, 1, columns.from_stride});
      }
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
List<CopyAxis> merged_axes(std::span<const Index> to, std::span<const Index> from, const Shape& shape) {
  List<CopyAxis> axes;
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
void bring_dense_axis_inside(List<CopyAxis>& axes) {
  if (axes.back().from_stride == 1) return;
  const auto densest = std::find_if(axes.begin(), axes.end() - 1, [](const CopyAxis& a) { return a.from_stride == 1; });
  if (densest != axes.end() - 1) std::rotate(densest, densest + 1, axes.end() - 1);
}

void copy_of_width(std::byte* to, const std::byte* from, std::span<const CopyAxis> axes, int width) {
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

}  // namespace

void copy_strided(std::byte* to, std::span<const Index> to_strides, const std::byte* from,
                  std::span<const Index> from_strides, const Shape& shape, int width) {
  if (shape.num_elements() == 0) return;
  List<CopyAxis> axes = merged_axes(to_strides, from_strides, shape);
  bring_dense_axis_inside(axes);
  const CopyAxis outermost = axes[0];
  const Index bytes_per_entry = shape.num_elements() / outermost.size * width;
  Index entries_per_task = std::max<Index>(1, bytes_per_task / bytes_per_entry);
  if (axes.size() == 2) entries_per_task = (entries_per_task + tile<1> - 1) / tile<1> * tile<1>;  // whole tiles
  parallel_for(0, outermost.size, entries_per_task, [&](Index begin, Index end) {
    List<CopyAxis> part = axes;
    part[0].size = end - begin;
    copy_of_width(to + begin * outermost.to_stride * width, from + begin * outermost.from_stride * width, part, width);
  });
}

List<Index> dense_strides(const Shape& shape) {
  List<Index> strides(static_cast<std::size_t>(shape.rank()));
  Index step = 1;
  for (std::size_t axis = strides.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape.sizes()[axis];
  }
  return strides;
}

}  // namespace strata::internal
