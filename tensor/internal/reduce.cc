// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/reduce.h"

#include <algorithm>
#include <span>
#include <utility>

#include "strata/tensor/internal/axes.h"
#include "strata/tensor/internal/reduce_rows.h"
#include "strata/tensor/thread_pool.h"

namespace strata::internal {
namespace {

constexpr Index elements_per_block = 1 << 15;
constexpr Index max_blocks = 64;

// A run of axes of the input that are treated alike.
struct MergedAxis {
  Index size;
  bool reduced;
  Index step = 1;         // between neighbours, in elements of the input
  Index result_step = 0;  // between neighbours, in elements of the result; 0 if reduced
};

// Outermost first; at least one.
List<MergedAxis> merged_axes(const Shape& shape, const List<bool>& reduced) {
  List<MergedAxis> axes;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    const Index size = shape.sizes()[i];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().reduced == reduced[i]) {
      axes.back().size *= size;
    } else {
      axes.push_back({size, reduced[i]});
    }
  }
  if (axes.empty()) axes.push_back({1, true});
  Index step = 1;
  Index result_step = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    axis->step = step;
    step *= axis->size;
    if (axis->reduced) continue;
    axis->result_step = result_step;
    result_step *= axis->size;
  }
  return axes;
}

// Calls f(input, n, result) for every innermost row in order, where entries [begin, end) of the first axis are walked
// through; `input` and `result` are the offsets at which the row starts. The row belongs to one result if the last axis
// is reduced, else to n neighbouring ones.
template <class F>
void for_each_row(std::span<const MergedAxis> axes, Index begin, Index end, Index input, Index result, const F& f) {
  const MergedAxis& axis = axes.front();
  if (axes.size() == 1) return f(input + begin, end - begin, result + begin * axis.result_step);
  for (Index i = begin; i < end; ++i) {
    for_each_row(axes.subspan(1), 0, axes[1].size, input + i * axis.step, result + i * axis.result_step, f);
  }
}

class Folding {
 public:
  Folding(Fold fold, const Tensor& x, const Reduction& reduction)
      : fold_(fold),
        rows_(fold_rows(fold, x.dtype())),
        axes_(merged_axes(x.shape(), reduction.reduced)),
        x_(x.bytes().data()),
        width_(size_in_bytes(x.dtype())) {}

  [[nodiscard]] Tensor empty(const Shape& shape) const { return empty_accumulators(fold_, shape, rows_.accumulator); }

  // Folds entries [begin, end) of the outermost axis.
  void run(Index begin, Index end, std::byte* accumulators) const {
    const Index result_width = size_in_bytes(rows_.accumulator);
    const FoldRows::Function row = axes_.back().reduced ? rows_.fold : rows_.merge;
    for_each_row(std::span<const MergedAxis>(axes_), begin, end, 0, 0, [&](Index input, Index n, Index result) {
      row(x_ + input * width_, n, accumulators + result * result_width);
    });
  }

  void run_all(Tensor& accumulators) const {
    const MergedAxis& outermost = axes_.front();
    const Index num_blocks = blocks(accumulators.size());
    if (outermost.reduced && num_blocks > 1) return run_blocks(num_blocks, accumulators);
    std::byte* const to = accumulators.mutable_bytes().data();
    if (outermost.reduced) return run(0, outermost.size, to);
    const Index grain = std::max<Index>(1, elements_per_block / outermost.step);
    parallel_for(0, outermost.size, grain, [&](Index begin, Index end) { run(begin, end, to); });
  }

 private:
  // Each block needs accumulators of its own: not worth it where these are as many as the elements.
  [[nodiscard]] Index blocks(Index num_results) const {
    const MergedAxis& outermost = axes_.front();
    const Index wanted = outermost.size * outermost.step / std::max(elements_per_block, 8 * num_results);
    return std::clamp<Index>(wanted, 1, std::min(max_blocks, outermost.size));
  }

  void run_blocks(Index num_blocks, Tensor& accumulators) const {
    Tensor partial = empty(Shape{num_blocks}.append(accumulators.shape()));
    std::byte* const to = partial.mutable_bytes().data();
    const auto bytes = static_cast<Index>(accumulators.num_bytes());
    const Index size = axes_.front().size;
    const Index per_block = (size + num_blocks - 1) / num_blocks;
    parallel_for(0, num_blocks, 1, [&](Index block, Index) {
      const Index begin = std::min(size, block * per_block);
      run(begin, std::min(size, begin + per_block), to + block * bytes);
    });
    const FoldRows::Function merge = fold_rows(fold_, rows_.accumulator).merge;
    std::byte* const result = accumulators.mutable_bytes().data();
    for (Index block = 0; block < num_blocks; ++block) merge(to + block * bytes, accumulators.size(), result);
  }

  Fold fold_;
  FoldRows rows_;
  List<MergedAxis> axes_;
  const std::byte* x_;
  Index width_;
};

}  // namespace

Reduction::Reduction(const Shape& shape, const Axes& axes, const char* operation)
    : reduced(static_cast<std::size_t>(shape.rank()), axes.all()) {
  for (const int axis : normalize_axes(axes.named(), shape, operation)) reduced[static_cast<std::size_t>(axis)] = true;
  List<Index> ones(shape.begin(), shape.end());
  List<Index> kept;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    if (reduced[i]) {
      count *= std::exchange(ones[i], 1);
    } else {
      kept.push_back(ones[i]);
    }
  }
  with_ones = Shape(ones);
  without = Shape(kept);
}

Axes Reduction::axes() const {
  List<int> result;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) result.push_back(static_cast<int>(i));
  }
  return result;
}

Tensor fold(Fold fold, const Tensor& x, const Reduction& reduction) {
  const Folding folding(fold, x, reduction);
  Tensor accumulators = folding.empty(reduction.with_ones);
  if (x.size() != 0) folding.run_all(accumulators);
  return accumulators;
}

Tensor first_equal(const Tensor& x, const Tensor& extremes, const Reduction& reduction) {
  Tensor found = Tensor::uninitialized(x.shape(), DType::boolean);
  if (x.size() == 0) return found;
  const List<MergedAxis> axes = merged_axes(x.shape(), reduction.reduced);
  List<bool> taken(static_cast<std::size_t>(extremes.size()), false);
  dispatch(x.dtype(), [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const T* elements = x.data<T>().data();
      const T* wanted = extremes.data<T>().data();
      bool* out = found.mutable_data<bool>().data();
      const Index step = axes.back().result_step;
      const auto mark = [&](Index input, Index n, Index result) {
        for (Index i = 0; i < n; ++i) {
          const Index at = result + i * step;
          const T value = elements[input + i];
          const bool same = value == wanted[at] || (value != value && wanted[at] != wanted[at]);
          out[input + i] = same && !taken[static_cast<std::size_t>(at)];
          if (out[input + i]) taken[static_cast<std::size_t>(at)] = true;
        }
      };
      for_each_row(std::span<const MergedAxis>(axes), 0, axes.front().size, 0, 0, mark);
    }
  });
  return found;
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  List<int> axes;
  const int extra = x.rank() - shape.rank();
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis < extra || (shape[axis - extra] == 1 && x.size(axis) != 1)) axes.push_back(axis);
  }
  return sum(x, axes).reshape(shape);
}

}  // namespace strata::internal
