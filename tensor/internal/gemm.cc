// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/gemm.h"

#include <algorithm>
#include <cstddef>

#include "strata/tensor/internal/gemm_problem.h"
#include "strata/tensor/internal/recycler.h"
#include "strata/tensor/thread_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "strata/tensor/internal/gemm.cc"
#include "strata/tensor/internal/gemm_kernel-inl.h"
#include "strata/tensor/internal/gemv_kernel-inl.h"
#include "strata/tensor/internal/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strata::internal::gemm_kernels::HWY_NAMESPACE {

void multiply_float(const GemmProblem<float>& g) { multiply(g); }
void multiply_double(const GemmProblem<double>& g) { multiply(g); }
void multiply_by_vector_float(const GemvProblem<float>& g) { multiply_by_vector(g); }
void multiply_by_vector_double(const GemvProblem<double>& g) { multiply_by_vector(g); }

}  // namespace strata::internal::gemm_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strata::internal {
namespace gemm_kernels {

HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(multiply_by_vector_float);
HWY_EXPORT(multiply_by_vector_double);

void run(const GemmProblem<float>& g) { STRATA_DISPATCH(multiply_float)(g); }
void run(const GemmProblem<double>& g) { STRATA_DISPATCH(multiply_double)(g); }
void run(const GemvProblem<float>& g) { STRATA_DISPATCH(multiply_by_vector_float)(g); }
void run(const GemvProblem<double>& g) { STRATA_DISPATCH(multiply_by_vector_double)(g); }

}  // namespace gemm_kernels

void* pack_buffer_bytes(PackBuffer which, std::size_t size) {
  thread_local Workspaces own;
  Recycler* const recycler = active_recycler();
  return (recycler != nullptr ? recycler->workspaces() : own)[static_cast<std::size_t>(which)].reserve(size);
}

namespace {

// Multiply-adds, or elements of a matrix that is read once, from which another thread pays: some 20 us of work.
constexpr Index gemm_work_per_thread = 1 << 19;
constexpr Index gemv_work_per_thread = 1 << 16;

// Blocks of C begin at multiples of these, so that no element changes between a kernel's main loop and its remainder.
constexpr Index block_rows = 12;
constexpr Index block_columns = 64;

Index useful_threads(double work, Index work_per_thread) {
  return std::max<Index>(
      1, std::min<Index>(num_threads(), static_cast<Index>(work / static_cast<double>(work_per_thread))));
}

Index blocks(Index size, Index unit) { return (size + unit - 1) / unit; }

// The border before part i of `count` even parts, in multiples of `unit`.
Index border(Index size, Index unit, Index count, Index i) {
  return std::min(size, blocks(size, unit) * i / count * unit);
}

template <typename T>
MatrixOperand<T> sub_operand(const MatrixOperand<T>& x, Index row, Index column) {
  return {x.data + row * x.row + column * x.column, x.row, x.column};
}

// Rows and columns of blocks for a number of threads: each block packs its own operands, so blocks are as square as
// possible.
struct Grid {
  Index rows, columns;
};

template <typename T>
Grid grid_for(const GemmProblem<T>& g, Index threads) {
  Grid best{1, 1};
  for (Index rows = 1; rows <= threads; ++rows) {
    const Grid grid{std::min(rows, blocks(g.m, block_rows)), std::min(threads / rows, blocks(g.n, block_columns))};
    const Index gain = grid.rows * grid.columns - best.rows * best.columns;
    const Index border = blocks(g.m, grid.rows) + blocks(g.n, grid.columns);
    const Index best_border = blocks(g.m, best.rows) + blocks(g.n, best.columns);
    if (gain > 0 || (gain == 0 && border < best_border)) best = grid;
  }
  return best;
}

template <typename T>
void multiply_matrices(const GemmProblem<T>& g) {
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const Grid grid = grid_for(g, useful_threads(work, gemm_work_per_thread));
  parallel_for(0, grid.rows * grid.columns, 1, [&](Index cell, Index) {
    const Index i = cell / grid.columns, j = cell % grid.columns;
    const Index row = border(g.m, block_rows, grid.rows, i), row_end = border(g.m, block_rows, grid.rows, i + 1);
    const Index column = border(g.n, block_columns, grid.columns, j);
    const Index column_end = border(g.n, block_columns, grid.columns, j + 1);
    gemm_kernels::run(GemmProblem<T>{row_end - row, column_end - column, g.k, sub_operand(g.a, row, 0),
                                     sub_operand(g.b, 0, column), g.c + row * g.ldc + column, g.ldc, g.accumulate});
  });
}

// y (+)= M x for a vector x and a result y with distances between their elements.
template <typename T>
void multiply_vector(Index rows, Index columns, const MatrixOperand<T>& matrix, const T* x, Index x_step, T* y,
                     Index y_step, bool accumulate) {
  GemvProblem<T> g{rows, columns, matrix, x, y, accumulate};
  if (x_step != 1) {
    T* dense = pack_buffer<T>(PackBuffer::vector, rows + columns);
    for (Index p = 0; p < columns; ++p) dense[p] = x[p * x_step];
    g.x = dense;
  }
  if (y_step != 1) {
    g.y = pack_buffer<T>(PackBuffer::vector, rows + columns) + columns;
    for (Index i = 0; accumulate && i < rows; ++i) g.y[i] = y[i * y_step];
  }
  const Index threads =
      std::min(useful_threads(static_cast<double>(rows) * static_cast<double>(columns), gemv_work_per_thread),
               blocks(rows, block_columns));
  parallel_for(0, threads, 1, [&](Index i, Index) {
    const Index row = border(rows, block_columns, threads, i), row_end = border(rows, block_columns, threads, i + 1);
    gemm_kernels::run(GemvProblem<T>{row_end - row, columns, sub_operand(matrix, row, 0), g.x, g.y + row, accumulate});
  });
  for (Index i = 0; y_step != 1 && i < rows; ++i) y[i * y_step] = g.y[i];
}

template <typename T>
MatrixOperand<T> operand(const T* data, Index ld, bool transposed) {
  return transposed ? MatrixOperand<T>{data, 1, ld} : MatrixOperand<T>{data, ld, 1};
}

template <typename T>
void multiply_any(const GemmProblem<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.k <= 0) {
    for (Index i = 0; !g.accumulate && i < g.m; ++i) std::fill_n(g.c + i * g.ldc, g.n, T{0});
  } else if (g.m == 1) {
    multiply_vector(g.n, g.k, MatrixOperand<T>{g.b.data, g.b.column, g.b.row}, g.a.data, g.a.column, g.c, 1,
                    g.accumulate);
  } else if (g.n == 1) {
    multiply_vector(g.m, g.k, g.a, g.b.data, g.b.row, g.c, g.ldc, g.accumulate);
  } else {
    multiply_matrices(g);
  }
}

template <typename T>
void multiply_batch(Index batch, BatchStrides strides, const GemmProblem<T>& g) {
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  const auto grain = static_cast<Index>(std::max(1.0, static_cast<double>(gemm_work_per_thread) / std::max(1.0, work)));
  const auto multiply_one = [&](Index i) {
    multiply_any(GemmProblem<T>{g.m, g.n, g.k, MatrixOperand<T>{g.a.data + i * strides.a, g.a.row, g.a.column},
                                MatrixOperand<T>{g.b.data + i * strides.b, g.b.row, g.b.column}, g.c + i * strides.c,
                                g.ldc, g.accumulate});
  };
  if (batch < num_threads()) {
    for (Index i = 0; i < batch; ++i) multiply_one(i);
    return;
  }
  parallel_for(0, batch, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) multiply_one(i);
  });
}

template <typename T>
GemmProblem<T> problem(Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc,
                       GemmOptions options) {
  return {
      m, n, k, operand(a, lda, options.transpose_a), operand(b, ldb, options.transpose_b), c, ldc, options.accumulate};
}

}  // namespace

void gemm(Index m, Index n, Index k, const float* a, Index lda, const float* b, Index ldb, float* c, Index ldc,
          GemmOptions options) {
  multiply_any(problem(m, n, k, a, lda, b, ldb, c, ldc, options));
}

void gemm(Index m, Index n, Index k, const double* a, Index lda, const double* b, Index ldb, double* c, Index ldc,
          GemmOptions options) {
  multiply_any(problem(m, n, k, a, lda, b, ldb, c, ldc, options));
}

void batched_gemm(Index batch, BatchStrides strides, Index m, Index n, Index k, const float* a, Index lda,
                  const float* b, Index ldb, float* c, Index ldc, GemmOptions options) {
  multiply_batch(batch, strides, problem(m, n, k, a, lda, b, ldb, c, ldc, options));
}

void batched_gemm(Index batch, BatchStrides strides, Index m, Index n, Index k, const double* a, Index lda,
                  const double* b, Index ldb, double* c, Index ldc, GemmOptions options) {
  multiply_batch(batch, strides, problem(m, n, k, a, lda, b, ldb, c, ldc, options));
}

}  // namespace strata::internal
#endif
