// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

// Memory for computations that are repeated without the heap: what a step has released serves the next one.
namespace strata::internal {

// How a block is aligned: as operator new does, or for every vector instruction set.
enum class Alignment { plain, vector };

inline constexpr std::align_val_t vector_alignment{64};

// Memory that stays allocated from call to call.
class Workspace {
 public:
  // At least so many bytes, aligned for vectors; where it must grow, what it held is lost. Throws std::bad_alloc.
  [[nodiscard]] void* reserve(std::size_t bytes);

 private:
  struct Free {
    void operator()(void* block) const noexcept { ::operator delete(block, vector_alignment); }
  };

  std::unique_ptr<void, Free> block_;
  std::size_t bytes_ = 0;
};

// The workspaces of matrix products, which a thread has once.
using Workspaces = std::array<Workspace, 4>;

// Blocks that were released, kept to be given out again. Used by one thread at a time.
class Recycler {
 public:
  Recycler() = default;
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler();

  // A block that was kept, or null.
  [[nodiscard]] void* take(std::size_t bytes, Alignment alignment) noexcept;
  // Keeps a block, or returns false.
  [[nodiscard]] bool keep(void* block, std::size_t bytes, Alignment alignment) noexcept;

  // In place of those of the thread, which may be another one at every step.
  [[nodiscard]] Workspaces& workspaces() noexcept { return workspaces_; }

 private:
  struct Link {
    Link* next;
  };
  struct Shelf {
    std::size_t bytes;
    Alignment alignment;
    Link* first;
  };

  [[nodiscard]] Shelf* shelf(std::size_t bytes, Alignment alignment) noexcept;

  std::vector<Shelf> shelves_;  // one for each size that occurs, few
  Workspaces workspaces_;
};

// While it exists, this recycler serves the thread, and the thread shares no work with the pool: what others compute
// would take its memory elsewhere, and waiting for them takes locks.
class RecyclingScope {
 public:
  explicit RecyclingScope(Recycler& recycler) noexcept;
  RecyclingScope(const RecyclingScope&) = delete;
  RecyclingScope& operator=(const RecyclingScope&) = delete;
  ~RecyclingScope();

 private:
  Recycler* before_;
};

// The one that serves this thread, or null.
[[nodiscard]] Recycler* active_recycler() noexcept;

// From the thread's recycler, or from operator new. A block may be released in another thread and in another scope, or
// in none. Throws std::bad_alloc.
[[nodiscard]] void* allocate_block(std::size_t bytes, Alignment alignment);
void release_block(void* block, std::size_t bytes, Alignment alignment) noexcept;

// For containers and shared objects of operations.
template <class T>
struct RecyclingAllocator {
  using value_type = T;

  RecyclingAllocator() = default;
  template <class U>
  RecyclingAllocator(const RecyclingAllocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_block(count * sizeof(T), Alignment::plain));
  }
  void deallocate(T* block, std::size_t count) noexcept { release_block(block, count * sizeof(T), Alignment::plain); }

  template <class U>
  bool operator==(const RecyclingAllocator<U>&) const noexcept {
    return true;
  }
};

// A std::vector within an operation.
template <class T>
using List = std::vector<T, RecyclingAllocator<T>>;

}  // namespace strata::internal
