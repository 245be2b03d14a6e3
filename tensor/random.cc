// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "strata/tensor/arithmetic.h"
#include "strata/tensor/error.h"
#include "strata/tensor/internal/random_kernels.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/thread_pool.h"

namespace strata::random {
namespace {

constexpr Index grain = 16384;  // words of one task, some 20 us

template <class T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The two outputs of Threefry-2x32 for one counter.
RandomKey threefry(RandomKey key, std::uint32_t high, std::uint32_t low) {
  static constexpr std::array<std::array<int, 4>, 2> rotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  const std::array<std::uint32_t, 3> words{key.high, key.low, key.high ^ key.low ^ 0x1BD11BDAU};
  std::uint32_t x0 = high + words[0];
  std::uint32_t x1 = low + words[1];
  for (std::uint32_t block = 0; block < 5; ++block) {
    for (const int rotation : rotations[block % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += words[(block + 1) % 3];
    x1 += words[(block + 2) % 3] + block + 1;
  }
  return {x0, x1};
}

RandomKey threefry(RandomKey key, std::size_t counter) {
  const std::uint64_t wide = counter;
  return threefry(key, static_cast<std::uint32_t>(wide >> 32), static_cast<std::uint32_t>(wide));
}

[[noreturn]] void throw_dtype(const char* operation, DType dtype, const char* expected) {
  throw DTypeError(std::string("[random::") + operation + "] cannot draw " + std::string(name(dtype)) + ". Ask for " +
                   expected + ".");
}

[[noreturn]] void throw_value(const char* operation, const std::string& text) {
  throw ValueError(std::string("[random::") + operation + "] " + text);
}

std::string range_text(double low, double high) {
  return "low is " + std::to_string(low) + ", high is " + std::to_string(high) + ".";
}

using FloatKernel = void (*)(RandomKey, std::uint64_t, const internal::DrawRange&, std::span<float>);

Tensor draw_floats(const char* operation, FloatKernel kernel, RandomKey key, const Shape& shape,
                   const internal::DrawRange& range, DType dtype) {
  if (!is_floating(dtype)) throw_dtype(operation, dtype, "a floating type");
  Tensor result = Tensor::uninitialized(shape, DType::float32);
  const std::span<float> out = result.mutable_data<float>();
  parallel_for(0, result.size(), grain, [&](Index begin, Index end) {
    const auto first = static_cast<std::size_t>(begin);
    kernel(key, first, range, out.subspan(first, static_cast<std::size_t>(end - begin)));
  });
  return result.astype(dtype);
}

// out[i] = convert(number i), the numbers drawn piece by piece into a buffer on the stack.
template <class Number, class T, class Draw, class Convert>
void draw_converted(std::span<T> out, const Draw& draw, const Convert& convert) {
  parallel_for(0, static_cast<Index>(out.size()), grain, [&](Index begin, Index end) {
    std::array<Number, 1024> buffer;
    for (auto first = static_cast<std::size_t>(begin); first < static_cast<std::size_t>(end); first += buffer.size()) {
      const std::size_t count = std::min(buffer.size(), static_cast<std::size_t>(end) - first);
      draw(first, std::span(buffer).first(count));
      std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count),
                     out.begin() + static_cast<std::ptrdiff_t>(first), convert);
    }
  });
}

template <class T>
void draw_bits(RandomKey key, std::span<T> out) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    parallel_for(0, static_cast<Index>(out.size()), grain, [&](Index begin, Index end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        const RandomKey words = threefry(key, i);
        out[i] = std::uint64_t{words.high} << 32 | words.low;
      }
    });
  } else {
    draw_converted<std::uint32_t>(
        out, [&](std::size_t first, std::span<std::uint32_t> words) { internal::draw_words(key, first, words); },
        [](std::uint32_t word) { return static_cast<T>(word); });
  }
}

// Throws ShapeError if there is no memory for so many.
template <class T>
std::vector<T> vector_of(std::size_t count, const char* operation) try {
  return std::vector<T>(count);
} catch (const std::exception&) {  // bad_alloc or length_error
  throw ShapeError("[random::" + std::string(operation) + "] there is no memory for " + std::to_string(count) +
                   " elements of " + std::to_string(sizeof(T)) + " bytes. Ask for less.");
}

// low + r, r in [0, width): two words of type U are taken for one of twice the size, modulo the width. A width of 0
// stands for all values of U.
template <class U>
std::vector<U> draw_remainders(RandomKey key, std::size_t count, U width) {
  auto higher = vector_of<U>(count, "randint");
  auto lower = vector_of<U>(count, "randint");
  const std::vector<RandomKey> keys = split(key, 2);
  draw_bits<U>(keys[1], lower);
  if (width == 0) return lower;
  draw_bits<U>(keys[0], higher);
  const U half = static_cast<U>((U{1} << (sizeof(U) * 4)) % width);
  const U multiplier = static_cast<U>(half * half % width);
  for (std::size_t i = 0; i < count; ++i) {
    lower[i] = static_cast<U>((higher[i] % width * multiplier + lower[i] % width) % width);
  }
  return lower;
}

// The error function in float32, by the rational function of Eigen, rounded as in XLA.
float erf_float(float x) {
  static constexpr std::array<float, 5> numerator{0.00022905065861350646F, 0.0034082910107109506F,
                                                  0.050955695062380861F, 0.18520832239976145F, 1.128379143519084F};
  static constexpr std::array<float, 7> denominator{-1.1791602954361697e-7F,
                                                    0.000023547966471313185F,
                                                    0.0010179625278914885F,
                                                    0.014070470171167667F,
                                                    0.11098505178285362F,
                                                    0.49746925110067538F,
                                                    1.0F};
  if (std::abs(x) >= 3.832506856900711F) return std::copysign(1.0F, x);
  const float x2 = x * x;
  const auto horner = [&](std::span<const float> c) {
    float sum = c[0];
    for (const float next : c.subspan(1)) sum = std::fma(sum, x2, next);
    return sum;
  };
  return x * horner(numerator) / horner(denominator);
}

double dot(std::span<const double> a, std::span<const double> b) {
  std::array<double, 8> sums{};  // not one, to add without waiting for the sum before
  std::size_t i = 0;
  for (; i + sums.size() <= a.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Makes the rows of a matrix orthonormal, one after the other, by the method of Gram and Schmidt.
void orthonormalize_rows(Tensor& matrix) {
  const std::span<double> elements = matrix.mutable_data<double>();
  const auto size = static_cast<std::size_t>(matrix.size(1));
  for (std::size_t end = 0; end < elements.size(); end += size) {
    const std::span<double> row = elements.subspan(end, size);
    for (std::size_t start = 0; start < end; start += size) {
      const std::span<const double> other = elements.subspan(start, size);
      const double projection = dot(other, row);
      for (std::size_t i = 0; i < size; ++i) row[i] -= projection * other[i];
    }
    const double length = std::sqrt(dot(row, row));
    for (double& element : row) element /= length;
  }
}

// The same for many rows: block by block, so that most of the work is matrix products, and each block twice, as once
// leaves rounding errors of the order of the condition number.
Tensor orthonormal_rows(const Tensor& matrix) {
  constexpr Index block_rows = 32;
  std::vector<Tensor> blocks;
  for (Index begin = 0; begin < matrix.size(0); begin += block_rows) {
    Tensor block = matrix.slice(begin, std::min(begin + block_rows, matrix.size(0)));
    for (int pass = 0; pass < 2; ++pass) {
      for (const Tensor& other : blocks) block = block - matmul(matmul(block, transpose(other)), other);
      orthonormalize_rows(block);
    }
    blocks.push_back(block);
  }
  return concatenate(blocks, 0);
}

}  // namespace

RandomKey key(std::int64_t seed) { return {0, static_cast<std::uint32_t>(seed)}; }

RandomKey fold_in(RandomKey key, std::uint32_t data) { return threefry(key, 0, data); }

std::vector<RandomKey> split(RandomKey key, Index count) {
  if (count < 0) throw_value("split", "count is " + std::to_string(count) + ". Ask for 0 keys or more.");
  auto keys = vector_of<RandomKey>(static_cast<std::size_t>(count), "split");
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = threefry(key, i);
  return keys;
}

Tensor bits(RandomKey key, const Shape& shape, DType dtype) {
  if (!is_integer(dtype) || is_signed_integer(dtype)) throw_dtype("bits", dtype, "an unsigned type");
  Tensor result = Tensor::uninitialized(shape, dtype);
  dispatch(dtype, [&]<class T>(T) {
    if constexpr (Integer<T> && std::is_unsigned_v<T>) draw_bits(key, result.mutable_data<T>());
  });
  return result;
}

Tensor uniform(RandomKey key, const Shape& shape, double low, double high, DType dtype) {
  const internal::DrawRange range{.low = static_cast<float>(low), .high = static_cast<float>(high)};
  if (!(low <= high) || !std::isfinite(range.high - range.low)) {
    throw_value("uniform", range_text(low, high) + " Give finite numbers, low <= high.");
  }
  return draw_floats("uniform", internal::draw_uniform, key, shape, range, dtype);
}

Tensor normal(RandomKey key, const Shape& shape, DType dtype) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const internal::DrawRange range{
      .low = std::nextafter(-1.0F, 0.0F), .high = 1.0F, .least = -infinity, .greatest = infinity};
  return draw_floats("normal", internal::draw_normal, key, shape, range, dtype);
}

Tensor truncated_normal(RandomKey key, const Shape& shape, double low, double high, DType dtype) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float sqrt2 = 1.41421356237309504880F;
  const auto least = static_cast<float>(low);
  const auto greatest = static_cast<float>(high);
  if (!(least < greatest)) throw_value("truncated_normal", range_text(low, high) + " Give low < high.");
  const internal::DrawRange range{.low = erf_float(least / sqrt2),
                                  .high = erf_float(greatest / sqrt2),
                                  .least = std::nextafter(least, infinity),
                                  .greatest = std::nextafter(greatest, -infinity)};
  return draw_floats("truncated_normal", internal::draw_normal, key, shape, range, dtype);
}

Tensor gumbel(RandomKey key, const Shape& shape, DType dtype) {
  const internal::DrawRange range{.low = std::numeric_limits<float>::min(), .high = 1.0F};
  return draw_floats("gumbel", internal::draw_gumbel, key, shape, range, dtype);
}

Tensor exponential(RandomKey key, const Shape& shape, DType dtype) {
  return draw_floats("exponential", internal::draw_exponential, key, shape, {}, dtype);
}

Tensor bernoulli(RandomKey key, const Shape& shape, double p) {
  if (!(p >= 0 && p <= 1)) throw_value("bernoulli", "p is " + std::to_string(p) + ". Give a number from 0 to 1.");
  Tensor result = Tensor::uninitialized(shape, DType::boolean);
  draw_converted<float>(
      result.mutable_data<bool>(),
      [&](std::size_t first, std::span<float> numbers) { internal::draw_uniform(key, first, {}, numbers); },
      [limit = static_cast<float>(p)](float number) { return number < limit; });
  return result;
}

Tensor randint(RandomKey key, const Shape& shape, Index low, Index high, DType dtype) {
  if (!is_integer(dtype)) throw_dtype("randint", dtype, "an integer type");
  const bool fits = dispatch(dtype, [&]<class T>(T) {
    if constexpr (Integer<T>) {
      using Limits = std::numeric_limits<T>;
      return low < high && std::cmp_greater_equal(low, Limits::min()) && std::cmp_less_equal(high - 1, Limits::max());
    } else {
      return false;
    }
  });
  if (!fits) {
    throw_value("randint", "low is " + std::to_string(low) + ", high is " + std::to_string(high) +
                               ". Give low < high, in the range of " + std::string(name(dtype)) + ".");
  }
  Tensor result = Tensor::uninitialized(shape, dtype);
  dispatch(dtype, [&]<class T>(T) {
    if constexpr (Integer<T>) {
      using U = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
      const auto start = static_cast<U>(low);
      const std::span<T> out = result.mutable_data<T>();
      const std::vector<U> offsets = draw_remainders<U>(key, out.size(), static_cast<U>(high) - start);
      std::transform(offsets.begin(), offsets.end(), out.begin(), [&](U r) { return static_cast<T>(start + r); });
    }
  });
  return result;
}

// Sorts by random words, as often as it takes until two elements that got equal words every time are most unlikely.
Tensor permutation(RandomKey key, Index count) {
  if (count < 0) throw_value("permutation", "count is " + std::to_string(count) + ". Give 0 or more.");
  constexpr double max_word = std::numeric_limits<std::uint32_t>::max();
  auto order = vector_of<Index>(static_cast<std::size_t>(count), "permutation");
  std::iota(order.begin(), order.end(), Index{0});
  const double rounds = std::ceil(3 * std::log(std::max(1.0, static_cast<double>(count))) / std::log(max_word));
  auto words = vector_of<std::uint32_t>(order.size(), "permutation");
  auto sorted = vector_of<std::pair<std::uint32_t, Index>>(order.size(), "permutation");
  for (int round = 0; round < static_cast<int>(rounds); ++round) {
    const std::vector<RandomKey> keys = split(key, 2);
    key = keys[0];
    draw_bits<std::uint32_t>(keys[1], words);
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = {words[i], static_cast<Index>(i)};
    std::sort(sorted.begin(), sorted.end());
    auto next = vector_of<Index>(order.size(), "permutation");
    std::transform(sorted.begin(), sorted.end(), next.begin(),
                   [&](const auto& entry) { return order[static_cast<std::size_t>(entry.second)]; });
    order.swap(next);
  }
  return tensor(order, Shape{count});
}

Tensor categorical(RandomKey key, const Tensor& logits) {
  if (logits.rank() == 0) throw ShapeError("[random::categorical] logits are a scalar. Give them an axis of classes.");
  return categorical(key, logits, logits.shape().without_axis(-1));
}

// The class of the greatest sum of logit and Gumbel number.
Tensor categorical(RandomKey key, const Tensor& logits, const Shape& shape) {
  if (!is_floating(logits.dtype())) {
    throw DTypeError("[random::categorical] logits are " + describe(logits) + ". Give floating ones.");
  }
  const int batch_rank = logits.rank() - 1;
  if (batch_rank < 0 || logits.size(-1) == 0 || shape.rank() < batch_rank ||
      shape.axes(shape.rank() - batch_rank, shape.rank()) != logits.shape().axes(0, batch_rank)) {
    throw ShapeError("[random::categorical] logits are " + describe(logits) + ", the shape is " + to_string(shape) +
                     ". Give logits [*batch, classes] and a shape [*samples, *batch].");
  }
  const auto classes = static_cast<std::size_t>(logits.size(-1));
  const Tensor noise = gumbel(key, shape.append(Shape{logits.size(-1)}));
  const Tensor floats = logits.astype(DType::float32);
  const std::span<const float> z = floats.data<float>();
  const std::span<const float> g = noise.data<float>();
  Tensor result = Tensor::uninitialized(shape, DType::int64);
  const std::span<std::int64_t> out = result.mutable_data<std::int64_t>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::span<const float> noise_row = g.subspan(i * classes, classes);
    const std::span<const float> row = z.subspan(i * classes % z.size(), classes);
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c) {
      if (noise_row[c] + row[c] > noise_row[best] + row[best]) best = c;
    }
    out[i] = static_cast<std::int64_t>(best);
  }
  return result;
}

// The orthogonal factor of a matrix of normal numbers whose triangular factor has a positive diagonal: any other choice
// of signs would not be uniformly distributed (F. Mezzadri, "How to generate random matrices from the classical compact
// groups", 2007).
Tensor orthogonal(RandomKey key, Index rows, Index columns, DType dtype) {
  if (rows < 0 || columns < 0) {
    throw_value("orthogonal", std::to_string(rows) + " rows, " + std::to_string(columns) + " columns. Give 0 or more.");
  }
  if (!is_floating(dtype)) throw_dtype("orthogonal", dtype, "a floating type");
  if (rows == 0 || columns == 0) return Tensor::uninitialized(Shape{rows, columns}, dtype);
  const Tensor numbers = normal(key, Shape{std::max(rows, columns), std::min(rows, columns)}, DType::float64);
  const Tensor vectors = orthonormal_rows(transpose(numbers));
  return (rows < columns ? vectors : transpose(vectors)).astype(dtype);
}

}  // namespace strata::random
