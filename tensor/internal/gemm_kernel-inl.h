// SPDX-License-Identifier: Apache-2.0

// Products of matrices on one thread, for use inside HWY_NAMESPACE code: the loops around tiles and packing. B goes
// through panels of panel_width columns that fit the first cache, A through blocks that fit the second.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#undef STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#endif

#include <algorithm>

#include "strata/tensor/internal/gemm_packing-inl.h"
#include "strata/tensor/internal/gemm_problem.h"
#include "strata/tensor/internal/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

// Part `i` of `count` of a range cut as evenly as possible into parts that are multiples of `unit`, the last one
// excepted.
struct Part {
  Index begin, size;
};

constexpr Part part(Index size, Index unit, Index count, Index i) {
  const Index units = divide_up(size, unit);
  const Index begin = std::min(size, units * i / count * unit);
  return {begin, std::min(size, units * (i + 1) / count * unit) - begin};
}

// A packed panel of B takes half of the first cache, a packed block of A a third of the second.
template <typename T>
constexpr Index k_block = 1024 / static_cast<Index>(sizeof(T));
constexpr Index row_block = 144;
constexpr Index column_block = 2048;

// The part of a product that is worked on with one set of packed operands.
struct Block {
  Part rows, columns, k;
};

// A block cut into tiles of nearly equal heights, `high` of them one row higher than the others.
struct Tiles {
  explicit Tiles(Index rows) : count(divide_up(rows, max_rows)), height(rows / count), high(rows % count) {}
  Index count, height, high;
};

// Packing A pays where many panels share a tile and rows are so far apart that the first cache cannot hold them
// together.
template <typename T>
bool packs_a(const GemmProblem<T>& g, const Block& block) {
  return g.a.column == 1 ? block.columns.size >= 400 : block.columns.size * g.a.column >= 65536;
}

// Whole panels of a row-major B are read in place if few tiles share them or the first caches hold them anyway.
template <typename T>
bool reads_in_place(const GemmProblem<T>& g, const Block& block, Index columns) {
  if (g.b.column != 1 || columns != panel_width<T>) return false;
  constexpr Index cached = 65536 / static_cast<Index>(sizeof(T));
  return g.m <= 32 || (g.m <= 512 && block.k.size * g.b.row <= cached);
}

// The tiles of a block of A: in place, or one after the other in a buffer.
template <typename T>
void pack_tiles_of_a(const GemmProblem<T>& g, const Block& block, const Tiles& tiles, T* to) {
  MatrixOperand<T> from = {g.a.data + block.rows.begin * g.a.row + block.k.begin * g.a.column, g.a.row, g.a.column};
  for (Index i = 0; i < tiles.count; ++i) {
    const Index rows = tiles.height + (i < tiles.high ? 1 : 0);
    pack_a(rows, block.k.size, from, to);
    from.data += rows * from.row;
    to += rows * block.k.size;
  }
}

// `columns` columns of C, at c, for all rows of a block.
template <typename T>
void multiply_panel(const Tiles& tiles, Index columns, Index k, const MatrixOperand<T>& a, bool is_packed, TileB<T> b,
                    T* c, Index ldc, bool accumulate) {
  const Index vectors = divide_up(columns, lanes<T>);
  const T* a_data = a.data;
  for (Index i = 0; i < tiles.count; ++i) {
    const Index rows = tiles.height + (i < tiles.high ? 1 : 0);
    const TileA<T> tile = is_packed ? TileA<T>{a_data, 1, rows} : TileA<T>{a_data, a.row, a.column};
    const TileFunction<T> multiply = tile_function<T>(rows, vectors);
    if (columns == vectors * lanes<T>) {
      multiply(k, tile, b, c, ldc, accumulate);
    } else {
      multiply_partial_tile(multiply, rows, columns, k, tile, b, c, ldc, accumulate);
    }
    a_data += rows * (is_packed ? k : a.row);
    c += rows * ldc;
  }
}

template <typename T>
void multiply_block(const GemmProblem<T>& g, const Block& block, bool accumulate) {
  const Tiles tiles(block.rows.size);
  const Index k = block.k.size;
  MatrixOperand<T> a = {g.a.data + block.rows.begin * g.a.row + block.k.begin * g.a.column, g.a.row, g.a.column};
  const bool is_packed = packs_a(g, block);
  if (is_packed) {
    T* packed = pack_buffer<T>(PackBuffer::a, row_block * k_block<T>);
    pack_tiles_of_a(g, block, tiles, packed);
    a.data = packed;
  }
  const bool keeps_panels = g.m > row_block;
  T* buffer = pack_buffer<T>(PackBuffer::b, k_block<T> * (keeps_panels ? column_block : panel_width<T>));
  for (Index begin = 0; begin < block.columns.size; begin += panel_width<T>) {
    const Index columns = std::min(panel_width<T>, block.columns.size - begin);
    const T* from = g.b.data + block.k.begin * g.b.row + (block.columns.begin + begin) * g.b.column;
    TileB<T> b = {from, g.b.row};
    if (!reads_in_place(g, block, columns)) {
      b = {buffer, divide_up(columns, lanes<T>) * lanes<T>};
      if (block.rows.begin == 0) pack_b(columns, b.step, k, MatrixOperand<T>{from, g.b.row, g.b.column}, buffer);
      if (keeps_panels) buffer += panel_width<T> * k;
    }
    T* c = g.c + block.rows.begin * g.ldc + block.columns.begin + begin;
    multiply_panel(tiles, columns, k, a, is_packed, b, c, g.ldc, accumulate);
  }
}

// The whole product, k > 0, on the calling thread.
template <typename T>
void multiply(const GemmProblem<T>& g) {
  const Index k_parts = divide_up(g.k, k_block<T>), row_parts = divide_up(g.m, row_block);
  for (Index column = 0; column < g.n; column += column_block) {
    for (Index kp = 0; kp < k_parts; ++kp) {
      for (Index rp = 0; rp < row_parts; ++rp) {
        const Block block = {part(g.m, max_rows, row_parts, rp),
                             {column, std::min(column_block, g.n - column)},
                             part(g.k, 1, k_parts, kp)};
        multiply_block(g, block, g.accumulate || kp > 0);
      }
    }
  }
}

}  // namespace strata::internal::gemm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
