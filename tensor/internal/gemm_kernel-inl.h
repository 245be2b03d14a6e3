// SPDX-License-Identifier: Apache-2.0

// Products of matrices on one thread, for use inside HWY_NAMESPACE code: register tiles, packing, and the loops around
// them. C is computed in tiles of up to max_rows x panel_width elements whose sums stay in registers; B goes through
// panels of panel_width columns that fit the first cache, A through blocks that fit the second.

#include "strata/tensor/internal/simd-inl.h"

#if defined(STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#undef STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#else
#define STRATA_TENSOR_INTERNAL_GEMM_KERNEL_INL_H_
#endif

#include <algorithm>

#include "hwy/cache_control.h"
#include "strata/tensor/internal/gemm_problem.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With 32 registers 12 x 2 vectors of sums fit, with 16 registers 6 x 2; both leave room for a row of B and an element
// of A.
constexpr int panel_vectors = 2;
#if HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
constexpr int max_rows = 12;
#else
constexpr int max_rows = 6;
#endif

template <typename T>
constexpr Index lanes = static_cast<Index>(hn::MaxLanes(hn::ScalableTag<T>()));

template <typename T>
constexpr Index panel_width = panel_vectors* lanes<T>;

// One operand of a tile: element (i, p) of A at data[i * row + p * step], row p of B at data[p * step].
template <typename T>
struct TileA {
  const T* data;
  Index row;
  Index step;
};

template <typename T>
struct TileB {
  const T* data;
  Index step;
};

// C[rows, vectors * lanes] (+)= A B over k.
template <int rows, int vectors, typename T>
HWY_NOINLINE void multiply_tile(Index k, TileA<T> a, TileB<T> b, T* HWY_RESTRICT c, Index ldc, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sum[rows][vectors];
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) sum[i][j] = hn::Zero(d);
  }
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) hwy::Prefetch(c + i * ldc);
  const T* HWY_RESTRICT pa = a.data;
  const T* HWY_RESTRICT pb = b.data;
  for (Index p = 0; p < k; ++p) {
    V row[vectors];
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) row[j] = hn::LoadU(d, pb + j * lanes<T>);
    HWY_UNROLL(16)
    for (int i = 0; i < rows; ++i) {
      const V factor = hn::Set(d, pa[i * a.row]);
      HWY_UNROLL(16)
      for (int j = 0; j < vectors; ++j) sum[i][j] = hn::MulAdd(factor, row[j], sum[i][j]);
    }
    pa += a.step;
    pb += b.step;
  }
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) {
    HWY_UNROLL(16)
    for (int j = 0; j < vectors; ++j) {
      T* at = c + i * ldc + j * lanes<T>;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at), sum[i][j]) : sum[i][j], d, at);
    }
  }
}

template <typename T>
using TileFunction = void (*)(Index, TileA<T>, TileB<T>, T*, Index, bool);

// multiply_tile for a number of rows and vectors known at run time.
template <typename T>
TileFunction<T> tile_function(Index rows, Index vectors) {
#define STRATA_TILE_ROW(r) \
  { multiply_tile<r, 1, T>, multiply_tile<r, 2, T> }
  static constexpr TileFunction<T> functions[max_rows][panel_vectors] = {
    STRATA_TILE_ROW(1),
    STRATA_TILE_ROW(2),
    STRATA_TILE_ROW(3),
    STRATA_TILE_ROW(4),
    STRATA_TILE_ROW(5),
    STRATA_TILE_ROW(6),
#if HWY_TARGET == HWY_AVX3 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
    STRATA_TILE_ROW(7),
    STRATA_TILE_ROW(8),
    STRATA_TILE_ROW(9),
    STRATA_TILE_ROW(10),
    STRATA_TILE_ROW(11),
    STRATA_TILE_ROW(12),
#endif
  };
#undef STRATA_TILE_ROW
  return functions[rows - 1][vectors - 1];
}

// Vectors of 16 bytes, or of one lane on targets that have no more.
template <typename T>
using SmallTag = hn::CappedTag<T, 16 / sizeof(T)>;

template <typename T>
constexpr Index small_lanes = static_cast<Index>(hn::MaxLanes(SmallTag<T>()));

// A block of 4 x 4 floats or 2 x 2 doubles: to[p * to_step + r] = from[r * ld + p].
template <typename T, class D>
HWY_INLINE void transpose_block(D d, const T* HWY_RESTRICT from, [[maybe_unused]] Index ld, T* HWY_RESTRICT to,
                                [[maybe_unused]] Index to_step) {
#if HWY_TARGET == HWY_SCALAR
  hn::StoreU(hn::LoadU(d, from), d, to);
#else
  if constexpr (hn::MaxLanes(D()) == 4) {
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
    const auto r2 = hn::LoadU(d, from + 2 * ld), r3 = hn::LoadU(d, from + 3 * ld);
    const auto even_low = hn::InterleaveLower(d, r0, r2), even_high = hn::InterleaveUpper(d, r0, r2);
    const auto odd_low = hn::InterleaveLower(d, r1, r3), odd_high = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
    hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_step);
    hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_step);
    hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_step);
  } else {
    static_assert(hn::MaxLanes(D()) == 2);
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_step);
  }
#endif
}

// to[p * to_step + r] = from[r * ld + p] for r < width and p < k. Blocks at the end of a row overlap their neighbours;
// a cache line of `from` is used up before the next row is touched, as rows a power of two apart fall on the same few
// lines.
template <typename T>
void pack_transposed(Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  const SmallTag<T> d;
  constexpr Index block = small_lanes<T>, line = 64 / static_cast<Index>(sizeof(T));
  const Index block_columns = width < block ? 0 : k / block * block;
  for (Index begin = 0; begin < block_columns; begin += line) {
    const Index end = std::min(begin + line, block_columns);
    for (Index r = 0; r < width; r += block) {
      const Index row = std::min(r, width - block);
      for (Index p = begin; p < end; p += block) {
        transpose_block(d, from + row * ld + p, ld, to + p * to_step + row, to_step);
      }
    }
  }
  for (Index p = block_columns; p < k; ++p) {
    for (Index r = 0; r < width; ++r) to[p * to_step + r] = from[r * ld + p];
  }
}

// to[p * to_step + r] = from[p * ld + r] for r < width and p < k. Vectors at the end of a row overlap their neighbours.
template <typename T, class D>
void pack_rows_by(D d, Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  constexpr Index step = static_cast<Index>(hn::MaxLanes(D()));
  for (Index p = 0; p < k; ++p) {
    for (Index r = 0; r < width; r += step) {
      const Index at = std::min(r, width - step);
      hn::StoreU(hn::LoadU(d, from + p * ld + at), d, to + p * to_step + at);
    }
  }
}

template <typename T>
void pack_rows(Index width, Index k, const T* HWY_RESTRICT from, Index ld, T* HWY_RESTRICT to, Index to_step) {
  if (width >= lanes<T>) {
    pack_rows_by(hn::ScalableTag<T>(), width, k, from, ld, to, to_step);
  } else if (width >= small_lanes<T>) {
    pack_rows_by(SmallTag<T>(), width, k, from, ld, to, to_step);
  } else {
    for (Index p = 0; p < k; ++p) std::copy_n(from + p * ld, width, to + p * to_step);
  }
}

// The first `rows` rows from `a`, all of the k columns, packed to one row of `rows` elements a column.
template <typename T>
void pack_a(Index rows, Index k, const MatrixOperand<T>& a, T* to) {
  if (a.column == 1) {
    pack_transposed(rows, k, a.data, a.row, to, rows);
  } else {
    pack_rows(rows, k, a.data, a.column, to, rows);
  }
}

// The first `columns` columns from `b`, packed to rows of `width` elements, filled up with zeros.
template <typename T>
void pack_b(Index columns, Index width, Index k, const MatrixOperand<T>& b, T* to) {
  if (b.column == 1) {
    pack_rows(columns, k, b.data, b.row, to, width);
  } else {
    pack_transposed(columns, k, b.data, b.column, to, width);
  }
  for (Index p = 0; columns < width && p < k; ++p) std::fill(to + p * width + columns, to + (p + 1) * width, T{0});
}

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

// y[0, count) = or += x.
template <typename T>
HWY_INLINE void store_row(const T* x, Index count, T* y, bool accumulate) {
  const hn::ScalableTag<T> d;
  const auto sum_at = [&](Index j) HWY_ATTR {
    const auto sum = hn::LoadU(d, x + j);
    return accumulate ? hn::Add(hn::LoadU(d, y + j), sum) : sum;
  };
  if (count >= lanes<T>) {
    // The last vector overlaps the first; both are read before either is written.
    const auto first = sum_at(0), last = sum_at(count - lanes<T>);
    hn::StoreU(first, d, y);
    hn::StoreU(last, d, y + count - lanes<T>);
  } else {
    for (Index j = 0; j < count; ++j) y[j] = (accumulate ? y[j] : T{0}) + x[j];
  }
}

// One tile of C, of which only `columns` columns exist.
template <typename T>
void multiply_partial_tile(TileFunction<T> multiply, Index rows, Index columns, Index k, TileA<T> a, TileB<T> b, T* c,
                           Index ldc, bool accumulate) {
  static_assert(panel_vectors == 2);
  alignas(64) T sums[max_rows * panel_width<T>];
  multiply(k, a, b, sums, panel_width<T>, false);
  for (Index i = 0; i < rows; ++i) store_row(sums + i * panel_width<T>, columns, c + i * ldc, accumulate);
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
