// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::support {

// Sanitizers end the program where memory is refused, instead of throwing bad_alloc.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_can_be_refused = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool memory_can_be_refused = false;
#else
inline constexpr bool memory_can_be_refused = true;
#endif
#else
inline constexpr bool memory_can_be_refused = true;
#endif

}  // namespace strata::support
