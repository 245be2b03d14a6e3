// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

// Memory for computations that are repeated without the heap: what a step has released serves the next one.
namespace strata::internal {

// How a block is aligned: as operator new does, or for every vector instruction set.
enum class Alignment { plain, vector };

// Blocks that were released, kept to be given out again. Used by one thread at a time.
class Recycler {
 public:
  Recycler();
  Recycler(const Recycler&) = delete;
  Recycler& operator=(const Recycler&) = delete;
  ~Recycler();

  // A block that was kept, or null.
  [[nodiscard]] void* take(std::size_t bytes, Alignment alignment) noexcept;
  // Keeps a block, or returns false.
  [[nodiscard]] bool keep(void* block, std::size_t bytes, Alignment alignment) noexcept;

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
};

// While it exists, this recycler serves the thread.
class RecyclingScope {
 public:
  explicit RecyclingScope(Recycler& recycler) noexcept;
  RecyclingScope(const RecyclingScope&) = delete;
  RecyclingScope& operator=(const RecyclingScope&) = delete;
  ~RecyclingScope();

 private:
  Recycler* before_;
};

[[nodiscard]] bool is_recycling() noexcept;

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
