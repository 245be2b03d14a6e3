// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/recycler.h"

namespace strata {
namespace {

// Set while this thread works on chunks: calls from within them stay on the thread.
thread_local bool inside_chunk = false;

// Rounds of spinning before a thread sleeps, about 50 us.
constexpr int spin_rounds = 2000;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename Condition>
bool spin_until(Condition&& condition) {
  for (int round = 0; round < spin_rounds; ++round) {
    if (condition()) return true;
    relax();
  }
  return false;
}

// Chunks are counted from 0. Their number, and the distance of two positions, can exceed the largest Index.
struct Job {
  Index begin, end, grain;
  std::uint64_t num_chunks;
  internal::ChunkFunction call;
  void* function;
  int max_workers = 0;

  std::atomic<std::uint64_t> next_chunk{0};
  std::atomic<int> num_workers{0};
  Job* next = nullptr;

  std::mutex error_mutex{};
  std::uint64_t error_chunk = 0;
  std::exception_ptr error{};

  void run_chunk(std::uint64_t chunk) {
    const std::uint64_t offset = chunk * static_cast<std::uint64_t>(grain);
    const auto first = static_cast<Index>(static_cast<std::uint64_t>(begin) + offset);
    const std::uint64_t left = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first);
    call(function, first, static_cast<std::uint64_t>(grain) < left ? first + grain : end);
  }

  // False if there are no more. The counter never passes their number, beyond which it might wrap.
  bool take_chunk(std::uint64_t& chunk) {
    chunk = next_chunk.load(std::memory_order_relaxed);
    while (chunk < num_chunks) {
      if (next_chunk.compare_exchange_weak(chunk, chunk + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }

  // Chunks are taken in ascending order, so every chunk before a failing one has been taken as well and runs to its
  // end: the error of the lowest chunk does not depend on timing.
  void work() noexcept {
    for (std::uint64_t chunk = 0; take_chunk(chunk);) {
      try {
        run_chunk(chunk);
      } catch (...) {
        next_chunk.store(num_chunks, std::memory_order_relaxed);
        const std::lock_guard lock(error_mutex);
        if (error == nullptr || chunk < error_chunk) {
          error = std::current_exception();
          error_chunk = chunk;
        }
      }
    }
  }

  [[nodiscard]] bool has_room() const {
    return next_chunk.load(std::memory_order_relaxed) < num_chunks &&
           num_workers.load(std::memory_order_relaxed) < max_workers;
  }
};

class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      epoch_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void run(Job& job) {
    offer(job);
    inside_chunk = true;
    job.work();
    inside_chunk = false;
    withdraw(job);
    if (job.error != nullptr) std::rethrow_exception(job.error);
  }

 private:
  void offer(Job& job) {
    int to_wake = 0;
    {
      const std::lock_guard lock(mutex_);
      start_workers(job.max_workers);
      job.next = jobs_;
      jobs_ = &job;
      epoch_.fetch_add(1, std::memory_order_release);
      to_wake = std::min(num_sleeping_, job.max_workers);
    }
    for (; to_wake > 0; --to_wake) wake_.notify_one();
  }

  // Returns when no worker is at the job any more.
  void withdraw(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      Job** link = &jobs_;
      while (*link != &job) link = &(*link)->next;
      *link = job.next;
    }
    const auto is_done = [&] { return job.num_workers.load(std::memory_order_acquire) == 0; };
    if (spin_until(is_done)) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, is_done);
  }

  // Where the system refuses more threads, or memory for them, the job is done by those there are.
  void start_workers(int count) {
    try {
      while (static_cast<int>(workers_.size()) < count) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }

  void serve() {
    inside_chunk = true;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (Job* job = find_job()) {
        job->num_workers.fetch_add(1, std::memory_order_relaxed);
        lock.unlock();
        job->work();
        lock.lock();
        // The last touch of the job: its owner may return at once.
        if (job->num_workers.fetch_sub(1, std::memory_order_release) == 1) done_.notify_all();
        continue;
      }
      const std::uint64_t seen = epoch_.load(std::memory_order_relaxed);
      lock.unlock();
      const auto has_news = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
      const bool awake = spin_until(has_news);
      lock.lock();
      if (awake) continue;
      ++num_sleeping_;
      wake_.wait(lock, has_news);
      --num_sleeping_;
    }
  }

  [[nodiscard]] Job* find_job() const {
    Job* job = jobs_;
    while (job != nullptr && !job->has_room()) job = job->next;
    return job;
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<std::uint64_t> epoch_{0};  // counts offered jobs
  Job* jobs_ = nullptr;                  // a list through Job::next
  int num_sleeping_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

int default_num_threads() {
  const char* text = std::getenv("STRATA_NUM_THREADS");
  if (text == nullptr || *text == '\0') return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  int count = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, count);
  if (error != std::errc() || rest != end || count < 1) {
    throw ValueError("[num_threads] STRATA_NUM_THREADS is not a positive number: \"" + std::string(text) +
                     "\". Set it to a number of threads, or leave it unset.");
  }
  return count;
}

std::atomic<int> chosen_num_threads{0};  // 0: not yet chosen

}  // namespace

int num_threads() {
  if (const int count = chosen_num_threads.load(std::memory_order_relaxed); count > 0) return count;
  int expected = 0;
  chosen_num_threads.compare_exchange_strong(expected, default_num_threads(), std::memory_order_relaxed);
  return chosen_num_threads.load(std::memory_order_relaxed);
}

void set_num_threads(int count) {
  if (count < 1) {
    throw ValueError("[set_num_threads] the number of threads must be positive: got " + std::to_string(count) + ".");
  }
  chosen_num_threads.store(count, std::memory_order_relaxed);
}

void internal::run_chunks(Index begin, Index end, Index grain, ChunkFunction call, void* function) {
  if (grain < 1) throw ValueError("[parallel_for] the grain must be positive: got " + std::to_string(grain) + ".");
  if (begin >= end) return;
  const std::uint64_t length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  Job job{begin, end, grain, (length - 1) / static_cast<std::uint64_t>(grain) + 1, call, function};
  if (!inside_chunk && active_recycler() == nullptr) {
    const auto threads = static_cast<std::uint64_t>(num_threads());
    job.max_workers = static_cast<int>(std::min(threads, job.num_chunks)) - 1;
  }
  if (job.max_workers > 0) {
    Pool::instance().run(job);
  } else {
    for (std::uint64_t chunk = 0; chunk < job.num_chunks; ++chunk) job.run_chunk(chunk);
  }
}

}  // namespace strata
