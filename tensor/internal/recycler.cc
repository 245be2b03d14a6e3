// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/internal/recycler.h"

#include <new>
#include <utility>

namespace strata::internal {
namespace {

thread_local Recycler* active = nullptr;

// Blocks of one size serve for all sizes that are rounded to it.
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

void* new_block(std::size_t bytes, Alignment alignment) {
  return alignment == Alignment::plain ? ::operator new(bytes) : ::operator new(bytes, vector_alignment);
}

void delete_block(void* block, Alignment alignment) noexcept {
  if (alignment == Alignment::plain) {
    ::operator delete(block);
  } else {
    ::operator delete(block, vector_alignment);
  }
}

}  // namespace

void* Workspace::reserve(std::size_t bytes) {
  if (bytes_ < bytes) {
    block_.reset();
    bytes_ = 0;
    block_.reset(::operator new(bytes, vector_alignment));
    bytes_ = bytes;
  }
  return block_.get();
}

Recycler::~Recycler() {
  for (const Shelf& shelf : shelves_) {
    for (Link* link = shelf.first; link != nullptr;) {
      Link* const next = link->next;
      delete_block(link, shelf.alignment);
      link = next;
    }
  }
}

Recycler::Shelf* Recycler::shelf(std::size_t bytes, Alignment alignment) noexcept {
  for (Shelf& shelf : shelves_) {
    if (shelf.bytes == bytes && shelf.alignment == alignment) return &shelf;
  }
  return nullptr;
}

void* Recycler::take(std::size_t bytes, Alignment alignment) noexcept {
  Shelf* const found = shelf(bytes, alignment);
  if (found == nullptr || found->first == nullptr) return nullptr;
  return std::exchange(found->first, found->first->next);
}

bool Recycler::keep(void* block, std::size_t bytes, Alignment alignment) noexcept {
  Shelf* found = shelf(bytes, alignment);
  if (found == nullptr) {
    try {
      found = &shelves_.emplace_back(Shelf{bytes, alignment, nullptr});
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  found->first = new (block) Link{found->first};
  return true;
}

RecyclingScope::RecyclingScope(Recycler& recycler) noexcept : before_(std::exchange(active, &recycler)) {}

RecyclingScope::~RecyclingScope() { active = before_; }

Recycler* active_recycler() noexcept { return active; }

void* allocate_block(std::size_t bytes, Alignment alignment) {
  const std::size_t size = rounded(bytes);
  if (active != nullptr) {
    if (void* const block = active->take(size, alignment)) return block;
  }
  return new_block(size, alignment);
}

void release_block(void* block, std::size_t bytes, Alignment alignment) noexcept {
  if (block == nullptr) return;
  if (active != nullptr && active->keep(block, rounded(bytes), alignment)) return;
  delete_block(block, alignment);
}

}  // namespace strata::internal
