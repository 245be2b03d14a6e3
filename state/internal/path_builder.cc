// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/path_builder.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace strata::internal {

// A header before the nodes. Counted are the paths to its nodes, the nodes of other slabs that continue its own, and
// the builder that fills it.
class PathSlab {
 public:
  static PathSlab* make(int capacity) {
    void* memory = ::operator new(sizeof(PathSlab) + static_cast<std::size_t>(capacity) * sizeof(PathNode));
    return new (memory) PathSlab(capacity);
  }

  static PathSlab* of(const PathNode* node) noexcept {
    return reinterpret_cast<PathSlab*>(const_cast<PathNode*>(node - node->place)) - 1;
  }

  [[nodiscard]] bool is_full() const noexcept { return used_ == capacity_; }

  template <class K>
  const PathNode* add(const PathNode* parent, const PathNode* jump, K&& key) {
    PathNode* node = nodes() + used_;
    const int depth = parent == nullptr ? 1 : parent->depth + 1;
    new (node) PathNode{parent, jump, Key(std::forward<K>(key)), static_cast<std::uint8_t>(used_), depth};
    ++used_;
    if (parent != nullptr && of(parent) != this) of(parent)->retain();
    return node;
  }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

  // Without recursion, however long the chain of slabs that go with this one.
  void release() noexcept {
    PathSlab* dead = drop() ? this : nullptr;
    while (dead != nullptr) {
      PathSlab* slab = dead;
      dead = slab->next_dead_;
      for (int i = 0; i < slab->used_; ++i) {
        const PathNode* parent = slab->nodes()[i].parent;
        if (parent != nullptr && of(parent) != slab && of(parent)->drop()) {
          of(parent)->next_dead_ = dead;
          dead = of(parent);
        }
      }
      std::destroy_n(slab->nodes(), slab->used_);
      slab->~PathSlab();
      ::operator delete(slab);
    }
  }

 private:
  explicit PathSlab(int capacity) noexcept : capacity_(capacity) {}

  [[nodiscard]] PathNode* nodes() noexcept { return reinterpret_cast<PathNode*>(this + 1); }

  // True if this was the last reference.
  bool drop() noexcept {
    return references_.load(std::memory_order_acquire) == 1 || references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::atomic<int> references_ = 1;
  int capacity_;
  int used_ = 0;
  PathSlab* next_dead_ = nullptr;
};
static_assert(sizeof(PathSlab) % alignof(PathNode) == 0);

namespace {

int depth_of(const PathNode* node) noexcept { return node == nullptr ? 0 : node->depth; }

// The jump of a new node below `parent`: as far as the last two jumps together, if these are equally far.
const PathNode* jump_below(const PathNode* parent) noexcept {
  if (parent == nullptr || parent->jump == nullptr) return parent;
  const PathNode* middle = parent->jump;
  const bool equally_far = parent->depth - middle->depth == middle->depth - depth_of(middle->jump);
  return equally_far ? middle->jump : parent;
}

}  // namespace

void retain(const PathNode* node) noexcept { PathSlab::of(node)->retain(); }
void release(const PathNode* node) noexcept { PathSlab::of(node)->release(); }

const PathNode* ancestor(const PathNode* node, int depth) noexcept {
  while (depth_of(node) > depth) node = depth_of(node->jump) >= depth ? node->jump : node->parent;
  return node;
}

PathBuilder::~PathBuilder() {
  if (slab_ != nullptr) slab_->release();
}

template <class K>
Path PathBuilder::append_key(const PathNode* parent, K&& key) {
  if (slab_ == nullptr || slab_->is_full()) {
    PathSlab* fresh = PathSlab::make(next_capacity_);
    if (slab_ != nullptr) slab_->release();
    slab_ = fresh;
    next_capacity_ = std::min(2 * next_capacity_, max_capacity);
  }
  Path path;
  path.node_ = slab_->add(parent, jump_below(parent), std::forward<K>(key));
  slab_->retain();
  return path;
}

template Path PathBuilder::append_key(const PathNode* parent, Key&& key);
template Path PathBuilder::append_key(const PathNode* parent, const KeyView& key);

}  // namespace strata::internal
