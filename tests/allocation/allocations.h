// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>

// The executable with these tests counts its allocations, and lets one of them fail on demand.
namespace strata::allocation {

// All allocations of the program so far.
[[nodiscard]] int count() noexcept;

// Bytes in use, and the most that were at a time since `begin_peak`.
[[nodiscard]] std::int64_t live_bytes() noexcept;
[[nodiscard]] std::int64_t peak_bytes() noexcept;
void begin_peak() noexcept;

// The next allocation but `others` throws std::bad_alloc, once.
void fail_after(int others) noexcept;

// No allocation fails any more. Returns true if one has failed since fail_after.
bool stop_failing() noexcept;

// A Case has act() and expect_unchanged(). Acts on a new one with the first allocation failing, then the second, ...,
// until there are no more, and checks those whose act() threw. Returns how many threw.
template <class Case>
int fail_each() {
  int failures = 0;
  for (int others = 0;; ++others) {
    SCOPED_TRACE(others);
    Case tried;
    bool threw = false;
    fail_after(others);
    try {
      tried.act();
    } catch (
        const std::exception&) {  // std::bad_alloc, or the ShapeError that names a tensor for which there is no memory
      threw = true;
    }
    const bool failed = stop_failing();
    if (threw) tried.expect_unchanged();
    if (threw) ++failures;
    if (!failed || testing::Test::HasFailure()) return failures;
  }
}

}  // namespace strata::allocation
