// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/state/internal/key_view.h"
#include "strata/state/variable.h"

// A module seen without its C++ types. Each type that can stand in a module is described once, by a NodeType;
// everything that walks modules (flatten, split, merge, print, compare, clone) is then an ordinary function in a .cc
// file.
namespace strata::internal {

struct NodeType;

// An object inside a module, or the module itself.
struct Node {
  void* object = nullptr;
  const NodeType* type = nullptr;
};

// What an object is known by. The address alone would not do: an object and its first member share it.
using Identity = std::pair<const void*, const NodeType*>;
inline Identity identity(Node node) { return {node.object, node.type}; }
struct IdentityHash {
  std::size_t operator()(const Identity& id) const noexcept {
    // Addresses differ in their middle bits: a product carries these to the top, the shift back to the bottom.
    const std::uint64_t bits =
        reinterpret_cast<std::uintptr_t>(id.first) + 31 * reinterpret_cast<std::uintptr_t>(id.second);
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15) >> 32);
  }
};

// Receives the children of a node, in the order of their keys.
class ChildVisitor {
 public:
  virtual void child(const KeyView& key, Node node) = 0;

 protected:
  ~ChildVisitor() = default;
};

enum class Role {
  variable,  // a leaf of the state
  group,     // module or container: has children under keys
  holder,    // optional, variant, unique_ptr: stands for what it holds, or for nothing
  shared,    // shared_ptr: stands for what it points to, which other places may share
  value,     // anything else: part of the graph definition
};

// Copies that remain to be made: fields of objects that were default-constructed because their type cannot be copied. A
// queue, so that copying a long chain of owners needs no recursion.
struct PendingCopies {
  struct Entry {
    void* to;
    const void* from;
    const NodeType* type;
  };
  std::vector<Entry> entries;
};

// What the walkers need of a C++ type. Functions that make no sense for the role are null.
struct NodeType {
  Role role;
  std::string_view name;  // as C++ spells it

  Variable* (*variable)(void* object) = nullptr;                    // variable
  void (*children)(void* object, ChildVisitor& visitor) = nullptr;  // group
  Node (*target)(void* object) = nullptr;                           // holder, shared: null object if empty

  // variable, value: assigns. Others: makes `to` alike and queues what is below.
  void (*copy)(void* to, const void* from, PendingCopies& pending) = nullptr;

  bool (*equal)(const void* a, const void* b) = nullptr;  // value
  std::size_t (*hash)(const void* object) = nullptr;      // value
  std::string (*text)(const void* object) = nullptr;      // value

  // shared: a fresh copy of the target, to be given to every place that shares it.
  std::shared_ptr<void> (*copy_target)(const void* object, PendingCopies& pending) = nullptr;
  void (*set_target)(void* object, const std::shared_ptr<void>& target) = nullptr;

  // shared and unique_ptr: leaves the place empty and hands the ownership out, so that chains can be taken down in a
  // loop.
  std::shared_ptr<void> (*take_target)(void* object) = nullptr;

  // optional, unique_ptr, shared_ptr: leaves the place empty.
  void (*clear)(void* object) = nullptr;

  // vector, map: removes a child that is there, with its key; those behind it in a vector move up.
  void (*erase)(void* object, const KeyView& key) = nullptr;
  bool moves_up = false;  // erasing changes the keys of others
};

// Throws StateError: a pointer to `base` holds an object of a derived class.
[[noreturn]] void throw_derived_pointee(std::string_view base, const char* dynamic_type);

}  // namespace strata::internal
