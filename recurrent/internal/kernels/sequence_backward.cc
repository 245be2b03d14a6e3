// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "strata/recurrent/internal/kernels/kernels.h"
#include "strata/recurrent/internal/kernels/row_groups.h"
#include "strata/recurrent/internal/kernels/sequence.h"
#include "strata/tensor/thread_pool.h"

namespace strata::recurrent::internal {
namespace {

// Pairs whose gate gradients are kept at a time.
constexpr Index chunk_pairs = 512;

// For each row, the steps that carry a gradient: the valid ones, and of computed padding up to the last cotangent that
// is not zero.
template <class T>
std::vector<Index> live_steps(const RowOrder& order, Index hidden, const Matrix<const T>& dy) {
  std::vector<Index> live(static_cast<std::size_t>(order.rows()));
  for (Index j = 0; j < order.rows(); ++j) {
    Index steps = order.length(j);
    if (order.padding() == PaddingOutput::keep && dy.data != nullptr) {
      const auto is_zero = [&](Index t) {
        const T* from = dy.row(order.output_place(j, t));
        return std::all_of(from, from + hidden, [](T v) { return v == T{0}; });
      };
      for (steps = order.extent(j); steps > order.length(j) && is_zero(steps - 1);) --steps;
    }
    live[static_cast<std::size_t>(j)] = steps;
  }
  return live;
}

// For each step, the number of rows up to the last one that is live there.
std::vector<Index> live_rows(const std::vector<Index>& live, Index steps) {
  std::vector<Index> rows(static_cast<std::size_t>(steps) + 1);
  for (std::size_t j = 0; j < live.size(); ++j) rows[static_cast<std::size_t>(live[j])] = static_cast<Index>(j) + 1;
  for (std::size_t t = rows.size() - 1; t > 0; --t) rows[t - 1] = std::max(rows[t - 1], rows[t]);
  // Entry t now counts rows with at least t live steps.
  rows.erase(rows.begin());
  return rows;
}

template <class T>
bool any_wanted(const std::array<Matrix<T>, 4>& kernels) {
  return std::any_of(kernels.begin(), kernels.end(), [](const auto& k) { return k.data != nullptr; });
}

// Adds the cotangents that enter where row j ends: those of the final carry, and of the outputs that repeat its last
// one.
template <class T>
void enter_final_cotangents(const BackwardChunk<T>& chunk, Index j) {
  const RowOrder& order = chunk.tape.order;
  const Index hidden = chunk.weights.shape.hidden;
  const auto add = [&](const T* from, T* to) {
    for (Index u = 0; u < hidden; ++u) to[u] += from[u];
  };
  const auto& [h, c] = chunk.cotangents.carry;
  const Index row = order.row(j);
  T* const dh = chunk.state_gradient + j * chunk.weights.state_stride;
  if (h.data != nullptr) add(h.row(row), dh);
  if (chunk.weights.layout().has_memory && c.data != nullptr) {
    add(c.row(row), chunk.memory_gradient + j * chunk.weights.state_stride);
  }
  const auto& y = chunk.cotangents.y;
  if (order.padding() != PaddingOutput::repeat_last || y.data == nullptr || order.length(j) == 0) return;
  for (Index t = order.length(j); t < order.extent(j); ++t) add(y.row(order.output_place(j, t)), dh);
}

// The gate gradients of one side, from pair `pair` of the chunk on.
template <class T>
GateRows<T> gate_rows(const BackwardChunk<T>& chunk, Side side, Index pair) {
  const CellLayout& layout = chunk.weights.layout();
  const Index lanes = chunk.weights.lanes;
  const Index pair_stride = layout.slots * lanes;
  const int slot = side == Side::input ? layout.input_begin : layout.recurrent_begin;
  return {chunk.gates + pair * pair_stride + slot * lanes, chunk.capacity * pair_stride, pair_stride,
          chunk.weights.blocks, layout.gates * lanes};
}

// Adds to the gradients of the states before step t what comes back through the recurrent product.
template <class T>
void add_product_gradient(const BackwardChunk<T>& chunk, Index t, Index row_begin, Index row_end,
                          AlignedArray<T>& masked) {
  const PackedWeights<T>& weights = chunk.weights;
  const Index stride = weights.state_stride;
  const Index pair = chunk.offsets[t - chunk.begin] + row_begin;
  T* const state_gradient = chunk.state_gradient + row_begin * stride;
  T* to = state_gradient;
  if (chunk.h_mask != nullptr) {
    masked.resize((row_end - row_begin) * stride);
    masked.fill_zero();
    to = masked.data();
  }
  weights.backward->transposed_product({gate_rows(chunk, Side::recurrent, pair), row_end - row_begin,
                                        weights.transposed_recurrent.data(), weights.shape.hidden, to, stride});
  if (chunk.h_mask == nullptr) return;
  for (Index j = 0; j < row_end - row_begin; ++j) {
    const T* const mask = chunk.h_mask[pair + j];
    for (Index u = 0; u < weights.shape.hidden; ++u) state_gradient[j * stride + u] += mask[u] * to[j * stride + u];
  }
}

// The gradients of the pre-activations of the rows [row_begin, row_end), step by step.
template <class T>
void backward_rows(const BackwardChunk<T>& chunk, Index row_begin, Index row_end) {
  const RowOrder& order = chunk.tape.order;
  const PackedWeights<T>& weights = chunk.weights;
  const auto& y = chunk.cotangents.y;
  const bool initial_wanted = chunk.gradients.initial.h.data != nullptr || chunk.gradients.initial.c.data != nullptr;
  std::vector<const T*> dy(static_cast<std::size_t>(row_end));
  AlignedArray<T> masked;
  for (Index t = chunk.end - 1; t >= chunk.begin; --t) {
    for (const Index j : order.of_length(t + 1)) {
      if (j >= row_begin && j < row_end) enter_final_cotangents(chunk, j);
    }
    const Index live_end = std::min(chunk.live_rows(t), row_end);
    if (live_end <= row_begin) continue;
    for (Index j = row_begin; j < live_end && y.data != nullptr; ++j) {
      dy[static_cast<std::size_t>(j)] = y.row(order.output_place(j, t));
    }
    weights.backward->retreat({chunk, t, row_begin, live_end, dy.data()});
    if (t == 0 && !initial_wanted) continue;
    add_product_gradient(chunk, t, row_begin, live_end, masked);
  }
}

// Columns of the input's gradient that are computed at a time, before they go where the caller keeps them.
constexpr Index input_gradient_vectors = 16;

template <class T>
void input_gradient(const BackwardChunk<T>& chunk, Index pair_begin, Index pair_end) {
  const PackedWeights<T>& weights = chunk.weights;
  const Index inputs = weights.shape.input;
  const Index lanes = weights.lanes;
  const Index width = std::min(input_gradient_vectors, (inputs + lanes - 1) / lanes) * lanes;
  const GateRows<T> gates = gate_rows(chunk, Side::input, pair_begin);
  AlignedArray<T> result((pair_end - pair_begin) * width);
  for (Index first = 0; first < inputs; first += width) {
    const Index columns = std::min(width, inputs - first);
    result.fill_zero();
    weights.backward->transposed_product({gates, pair_end - pair_begin,
                                          weights.transposed_input.data() + first * gates.blocks * gates.run, columns,
                                          result.data(), width});
    for (Index q = pair_begin; q < pair_end; ++q) {
      std::copy_n(result.data() + (q - pair_begin) * width, columns, chunk.x_gradient[q] + first);
    }
  }
}

// Copies the columns [begin, end) of `count` rows side by side, `stride` apart; null rows count as zero.
template <class T>
void gather_rows(const T* const* rows, Index count, Index begin, Index end, Index stride, T* to) {
  for (Index q = 0; q < count; ++q, to += stride) {
    if (rows[q] == nullptr) {
      std::fill_n(to, end - begin, T{0});
    } else {
      std::copy(rows[q] + begin, rows[q] + end, to);
    }
  }
}

// Rows of the kernels' gradients that are computed at a time: their factors and sums stay in the second cache.
constexpr Index weight_rows = 48;

// Rows [row_begin, row_end) of the gradients of one side's kernels: sums over the pairs of the chunk of x (or the
// state) times the gate gradients.
template <class T>
void weight_gradient(const BackwardChunk<T>& chunk, Side side, Index row_begin, Index row_end) {
  const CellLayout& layout = chunk.weights.layout();
  const bool is_input = side == Side::input;
  // An odd number of cache lines apart, so that a column of rows spreads over the cache.
  constexpr Index line = Index{64} / static_cast<Index>(sizeof(T));
  const Index stride = ((std::min(weight_rows, row_end - row_begin) + line - 1) / line | 1) * line;
  AlignedArray<T> factors(chunk.pairs() * stride);
  AlignedArray<T> sums(weight_rows * layout.gates * chunk.weights.lanes);
  for (Index first = row_begin; first < row_end; first += weight_rows) {
    const Index last = std::min(first + weight_rows, row_end);
    gather_rows(is_input ? chunk.x : chunk.h, chunk.pairs(), first, last, stride, factors.data());
    if (!is_input && chunk.h_mask != nullptr) {
      for (Index q = 0; q < chunk.pairs(); ++q) {
        T* const row = factors.data() + q * stride;
        for (Index u = first; u < last; ++u) row[u - first] *= chunk.h_mask[q][u];
      }
    }
    chunk.weights.backward->weight_product(
        {factors.data(), stride, first, last - first, gate_rows(chunk, side, 0), chunk.pairs(), sums.data(),
         is_input ? chunk.gradients.weights.input : chunk.gradients.weights.recurrent,
         is_input ? layout.input_gate : layout.recurrent_gate, chunk.weights.shape.hidden, chunk.add});
  }
}

template <class T>
void bias_gradient(const BackwardChunk<T>& chunk) {
  const CellLayout& layout = chunk.weights.layout();
  const Index lanes = chunk.weights.lanes;
  const auto& gradients = chunk.gradients.weights;
  AlignedArray<T> sums(layout.slots * lanes);
  for (Index b = 0; b < chunk.weights.blocks; ++b) {
    chunk.weights.backward->sum_pairs(chunk.gates + b * chunk.capacity * layout.slots * lanes, layout.slots,
                                      chunk.pairs(), sums.data());
    const Index unit = b * lanes;
    const Index columns = std::min(lanes, chunk.weights.shape.hidden - unit);
    const auto store = [&](T* bias, Index slot) {
      if (bias == nullptr) return;
      for (Index u = 0; u < columns; ++u) {
        bias[unit + u] = sums.data()[slot * lanes + u] + (chunk.add ? bias[unit + u] : T{0});
      }
    };
    for (int g = 0; g < layout.gates; ++g) {
      const auto i = static_cast<std::size_t>(g);
      store(gradients.input_bias[static_cast<std::size_t>(layout.input_gate[i])], layout.input_begin + g);
      store(gradients.recurrent_bias[static_cast<std::size_t>(layout.recurrent_gate[i])], layout.recurrent_begin + g);
    }
  }
}

// The backward pass with its state between chunks.
template <class T>
class Backward {
 public:
  Backward(const PackedWeights<T>& weights, const Tape<T>& tape, const Matrix<const T>& x,
           const Cotangents<T>& cotangents, const Gradients<T>& gradients)
      : weights_(weights),
        tape_(tape),
        order_(tape.order),
        x_(x),
        cotangents_(cotangents),
        gradients_(gradients),
        live_steps_(live_steps(order_, weights.shape.hidden, cotangents.y)),
        live_rows_(live_rows(live_steps_, order_.steps())),
        groups_(order_, weights.forward->row_tile, 2 * pair_operations(weights.shape)),
        state_gradient_(order_.rows() * weights.state_stride) {
    state_gradient_.fill_zero();
    if (!weights.layout().has_memory) return;
    memory_gradient_.resize(state_gradient_.size());
    memory_gradient_.fill_zero();
  }

  void run() {
    clear_dead_inputs();
    const Index capacity = std::min(std::max(chunk_pairs, order_.rows()), order_.pairs());
    gates_.resize(capacity * weights_.layout().slots * weights_.blocks * weights_.lanes);
    bool add = gradients_.add;
    for (Index end = order_.processed_steps(); end > 0;) {
      const Index begin = chunk_begin(end, capacity);
      const Index pairs = number_pairs(begin, end);
      if (pairs > 0) {
        run_chunk({weights_, tape_, cotangents_, gradients_, live_steps_.data(), state_gradient_.data(),
                   memory_gradient_.data(), gates_.data(), capacity, begin, end, offsets_.data(), x_rows_.data(),
                   h_rows_.data(), mask_rows_.empty() ? nullptr : mask_rows_.data(), x_gradient_rows_.data(), add});
        add = true;
      }
      end = begin;
    }
    if (!add) clear_weight_gradients();
    store_initial(state_gradient_, cotangents_.carry.h, gradients_.initial.h);
    store_initial(memory_gradient_, cotangents_.carry.c, gradients_.initial.c);
  }

 private:
  [[nodiscard]] Index live_rows_at(Index t) const { return live_rows_[static_cast<std::size_t>(t)]; }

  // dx of steps without gradient.
  void clear_dead_inputs() const {
    const auto& dx = gradients_.x;
    if (dx.data == nullptr) return;
    for (Index j = 0; j < order_.rows(); ++j) {
      for (Index t = live_steps_[static_cast<std::size_t>(j)]; t < order_.extent(j); ++t) {
        std::fill_n(dx.row(order_.input_place(j, t)), weights_.shape.input, T{0});
      }
    }
  }

  // The first step of the chunk that ends before `end`.
  [[nodiscard]] Index chunk_begin(Index end, Index capacity) const {
    Index begin = end;
    for (Index pairs = 0; begin > 0 && pairs + live_rows_at(begin - 1) <= capacity; --begin)
      pairs += live_rows_at(begin - 1);
    return begin;
  }

  // Numbers the live pairs of the steps [begin, end) and finds their rows of x, h and dx; returns how many there are.
  Index number_pairs(Index begin, Index end) {
    offsets_.assign(1, 0);
    x_rows_.clear();
    h_rows_.clear();
    mask_rows_.clear();
    x_gradient_rows_.clear();
    const auto& dx = gradients_.x;
    for (Index t = begin; t < end; ++t) {
      const Index states = t == 0 ? 0 : order_.rows() + order_.offset(t - 1);
      for (Index j = 0; j < live_rows_at(t); ++j) {
        const bool is_live = t < live_steps_[static_cast<std::size_t>(j)];
        const Index place = order_.input_place(j, t);
        x_rows_.push_back(is_live ? x_.row(place) : nullptr);
        h_rows_.push_back(is_live ? tape_.states.data() + (states + j) * weights_.state_stride : nullptr);
        if (tape_.h_mask.data != nullptr) mask_rows_.push_back(tape_.h_mask.row(order_.row(j)));
        if (dx.data != nullptr) x_gradient_rows_.push_back(dx.row(place));
      }
      offsets_.push_back(static_cast<Index>(x_rows_.size()));
    }
    return offsets_.back();
  }

  void run_chunk(const BackwardChunk<T>& chunk) const {
    groups_.for_each([&](Index begin, Index end) { backward_rows(chunk, begin, end); });

    // Parts of the products: rows of x, then rows of the kernels, then the biases.
    const bool is_parallel = chunk.pairs() * pair_operations(weights_.shape) >= parallel_operations;
    const Index parts = is_parallel ? 2 * num_threads() : 1;
    const Index inputs = weights_.shape.input;
    const auto cut = [&](Index size, Index part) { return size * part / parts; };
    const auto weight_part = [&](Side side, bool wanted, Index begin, Index end) {
      if (wanted && begin < end) weight_gradient(chunk, side, begin, end);
    };
    parallel_for(0, 2 * parts + 1, is_parallel ? 1 : 2 * parts + 1, [&](Index first, Index last) {
      for (Index task = first; task < last; ++task) {
        if (task < parts) {
          const Index size = inputs + weights_.shape.hidden;
          const Index begin = cut(size, task);
          const Index end = cut(size, task + 1);
          weight_part(Side::input, any_wanted(gradients_.weights.input), begin, std::min(end, inputs));
          weight_part(Side::recurrent, any_wanted(gradients_.weights.recurrent), std::max(begin - inputs, Index{0}),
                      end - inputs);
        } else if (task < 2 * parts) {
          const Index part = task - parts;
          if (gradients_.x.data != nullptr) {
            input_gradient(chunk, cut(chunk.pairs(), part), cut(chunk.pairs(), part + 1));
          }
        } else {
          bias_gradient(chunk);
        }
      }
    });
  }

  void clear_weight_gradients() const {
    const Index hidden = weights_.shape.hidden;
    const auto clear = [&](const std::array<Matrix<T>, 4>& kernels, const std::array<T*, 4>& biases, Index rows) {
      for (const Matrix<T>& kernel : kernels) {
        for (Index i = 0; i < rows && kernel.data != nullptr; ++i)
          std::fill_n(kernel.data + i * kernel.stride, hidden, T{0});
      }
      for (T* const bias : biases) {
        if (bias != nullptr) std::fill_n(bias, hidden, T{0});
      }
    };
    clear(gradients_.weights.input, gradients_.weights.input_bias, weights_.shape.input);
    clear(gradients_.weights.recurrent, gradients_.weights.recurrent_bias, hidden);
  }

  // The initial carry's gradient; in a row of length 0 it is also the final carry.
  void store_initial(const AlignedArray<T>& from, const Matrix<const T>& cotangent, const Matrix<T>& to) const {
    if (to.data == nullptr) return;
    for (Index j = 0; j < order_.rows(); ++j) {
      const T* const gradient = from.data() + j * weights_.state_stride;
      T* const result = to.data + order_.row(j) * to.stride;
      const bool is_final = order_.length(j) == 0 && cotangent.data != nullptr;
      const T* const added = is_final ? cotangent.data + order_.row(j) * cotangent.stride : nullptr;
      for (Index u = 0; u < weights_.shape.hidden; ++u) result[u] = gradient[u] + (is_final ? added[u] : T{0});
    }
  }

  const PackedWeights<T>& weights_;
  const Tape<T>& tape_;
  const RowOrder& order_;
  const Matrix<const T>& x_;
  const Cotangents<T>& cotangents_;
  const Gradients<T>& gradients_;
  std::vector<Index> live_steps_;
  std::vector<Index> live_rows_;
  RowGroups groups_;
  AlignedArray<T> state_gradient_;
  AlignedArray<T> memory_gradient_;
  AlignedArray<T> gates_;
  std::vector<Index> offsets_;
  std::vector<const T*> x_rows_;
  std::vector<const T*> h_rows_;
  std::vector<const T*> mask_rows_;
  std::vector<T*> x_gradient_rows_;
};

}  // namespace

template <class T>
void backward(const PackedWeights<T>& weights, const Tape<T>& tape, Matrix<const T> x, const Cotangents<T>& cotangents,
              const Gradients<T>& gradients) {
  Backward<T>(weights, tape, x, cotangents, gradients).run();
}

template void backward(const PackedWeights<float>&, const Tape<float>&, Matrix<const float>, const Cotangents<float>&,
                       const Gradients<float>&);
template void backward(const PackedWeights<double>&, const Tape<double>&, Matrix<const double>,
                       const Cotangents<double>&, const Gradients<double>&);

}  // namespace strata::recurrent::internal
