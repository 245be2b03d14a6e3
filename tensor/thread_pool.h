// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "strata/tensor/shape.h"

namespace strata {

// Threads that work on one parallel_for, the calling thread among them. At first the environment variable
// STRATA_NUM_THREADS, or else the number of processors. Throws ValueError if the variable is not a positive number.
[[nodiscard]] int num_threads();

// Takes effect for every parallel_for that starts later, from any thread. Throws ValueError if count < 1.
void set_num_threads(int count);

namespace internal {
using ChunkFunction = void (*)(void* function, Index begin, Index end);
void run_chunks(Index begin, Index end, Index grain, ChunkFunction call, void* function);
}  // namespace internal

// Calls f(chunk_begin, chunk_end) for the chunks [begin, begin + grain), [begin + grain, begin + 2 grain), ... of
// [begin, end), on the threads of the one pool of the process; returns when all are done. The borders do not depend on
// the number of threads: what is computed per chunk, and combined in the order of chunks, has the same bits for any
// number.
//
// May be called from several threads at once; calls from within f run on the calling thread alone. No chunk may wait
// for another. If f throws, chunks not yet begun are left out and the exception of the first failing chunk is passed
// on. Costs no allocation, and about 1 us while the workers are awake (they sleep some 50 us after the last call):
// worth it from about 20 us of work on. The workers are started by the first call that needs them, and joined when the
// program exits; the pool does not survive fork(). Throws ValueError if grain < 1.
template <typename F>
void parallel_for(Index begin, Index end, Index grain, F&& f) {
  using Function = std::remove_reference_t<F>;
  internal::run_chunks(
      begin, end, grain,
      [](void* function, Index first, Index last) { (*static_cast<Function*>(function))(first, last); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace strata
