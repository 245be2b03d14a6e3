// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "strata/filters/filter.h"

namespace strata {

// Variables whose elements have one of these types: of_dtype({DType::float32, DType::bfloat16}).
[[nodiscard]] Filter of_dtype(std::vector<DType> dtypes);

// In patterns of shapes: one axis of any size, any number of axes (none too).
inline constexpr Index any_size = -1;
inline constexpr Index any_sizes = -2;

// Variables whose shape fits, axis by axis: of_shape({any_size, 64}), of_shape({any_sizes, 3, 3}).
// Throws FilterError for another negative size.
[[nodiscard]] Filter of_shape(std::vector<Index> sizes);

enum class Comparison : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

// What can be measured of a variable: of_size is the number of its elements, of_rank that of its axes. Compared with a
// number they are a filter: of_size >= 1000, of_rank == 2.
enum class Measure : std::uint8_t { size, rank };
inline constexpr Measure of_size = Measure::size;
inline constexpr Measure of_rank = Measure::rank;

[[nodiscard]] Filter compare(Measure measure, Comparison comparison, Index value);
[[nodiscard]] inline Filter operator==(Measure m, Index value) { return compare(m, Comparison::equal, value); }
[[nodiscard]] inline Filter operator!=(Measure m, Index value) { return compare(m, Comparison::not_equal, value); }
[[nodiscard]] inline Filter operator<(Measure m, Index value) { return compare(m, Comparison::less, value); }
[[nodiscard]] inline Filter operator<=(Measure m, Index value) { return compare(m, Comparison::less_equal, value); }
[[nodiscard]] inline Filter operator>(Measure m, Index value) { return compare(m, Comparison::greater, value); }
[[nodiscard]] inline Filter operator>=(Measure m, Index value) { return compare(m, Comparison::greater_equal, value); }

}  // namespace strata
