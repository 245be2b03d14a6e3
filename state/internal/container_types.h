// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/state/internal/node_of.h"

// How containers of variables and modules show their elements.
namespace strata::internal {

// Elements under their positions.
template <class T>
void visit_elements(T& sequence, ChildVisitor& visitor) {
  Index position = 0;
  for (auto& element : sequence) visitor.child(position++, node_of(element));
}

template <class T>
struct ContainerType<std::vector<T>> {
  static constexpr NodeType make() {
    NodeType type{Role::group, type_name<std::vector<T>>()};
    type.children = [](void* object, ChildVisitor& visitor) {
      visit_elements(*static_cast<std::vector<T>*>(object), visitor);
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      auto& target = *static_cast<std::vector<T>*>(to);
      const auto& source = *static_cast<const std::vector<T>*>(from);
      target.clear();
      target.reserve(source.size());  // the queue keeps addresses of elements
      for (const T& element : source) {
        target.push_back(copy_or_queue(element));
        queue_copy(target.back(), element, pending);
      }
    };
    if constexpr (std::is_move_assignable_v<T>) {
      type.erase = [](void* object, const KeyView& key) {
        auto& elements = *static_cast<std::vector<T>*>(object);
        elements.erase(elements.begin() + key.integer);
      };
      type.moves_up = true;
    }
    return type;
  }
};

template <class T, std::size_t N>
struct ContainerType<std::array<T, N>> {
  static constexpr NodeType make() {
    NodeType type{Role::group, type_name<std::array<T, N>>()};
    type.children = [](void* object, ChildVisitor& visitor) {
      visit_elements(*static_cast<std::array<T, N>*>(object), visitor);
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      for (std::size_t i = 0; i < N; ++i) {
        pending.entries.push_back({&(*static_cast<std::array<T, N>*>(to))[i],
                                   &(*static_cast<const std::array<T, N>*>(from))[i], &node_type<T>()});
      }
    };
    return type;
  }
};

// Elements under their keys, which are texts or integers.
template <class K, class T, class Less>
struct ContainerType<std::map<K, T, Less>> {
  using Map = std::map<K, T, Less>;

  static constexpr NodeType make() {
    static_assert(std::same_as<K, std::string> || std::same_as<K, std::string_view> ||
                      (std::integral<K> && !std::same_as<K, bool>),
                  "the keys of a map in a module are texts or integers");
    static_assert(std::same_as<Less, std::less<K>> || std::same_as<Less, std::less<>>,
                  "a map in a module is in the order of its keys");
    NodeType type{Role::group, type_name<Map>()};
    type.children = [](void* object, ChildVisitor& visitor) {
      for (auto& [key, element] : *static_cast<Map*>(object)) {
        if constexpr (std::integral<K>) {
          visitor.child(to_index(key), node_of(element));
        } else {
          visitor.child(std::string_view(key), node_of(element));
        }
      }
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      auto& target = *static_cast<Map*>(to);
      target.clear();
      for (const auto& [key, element] : *static_cast<const Map*>(from)) {
        queue_copy(target.emplace(key, copy_or_queue(element)).first->second, element, pending);
      }
    };
    type.erase = [](void* object, const KeyView& key) {
      if constexpr (std::integral<K>) {
        static_cast<Map*>(object)->erase(static_cast<K>(key.integer));
      } else {
        static_cast<Map*>(object)->erase(K(key.text));
      }
    };
    return type;
  }
};

// Elements under their positions: tuple and pair.
template <class T>
struct TupleType {
  static constexpr NodeType make() {
    NodeType type{Role::group, type_name<T>()};
    type.children = [](void* object, ChildVisitor& visitor) {
      std::apply(
          [&](auto&... element) {
            Index position = 0;
            (visitor.child(position++, node_of(element)), ...);
          },
          *static_cast<T*>(object));
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (pending.entries.push_back({&std::get<I>(*static_cast<T*>(to)), &std::get<I>(*static_cast<const T*>(from)),
                                    &node_type<std::tuple_element_t<I, T>>()}),
         ...);
      }
      (std::make_index_sequence<std::tuple_size_v<T>>());
    };
    return type;
  }
};
template <class... T>
struct ContainerType<std::tuple<T...>> : TupleType<std::tuple<T...>> {};
template <class A, class B>
struct ContainerType<std::pair<A, B>> : TupleType<std::pair<A, B>> {};

template <class T>
struct ContainerType<std::optional<T>> {
  static constexpr NodeType make() {
    NodeType type{Role::holder, type_name<std::optional<T>>()};
    type.target = [](void* object) {
      auto& held = *static_cast<std::optional<T>*>(object);
      return held ? node_of(*held) : Node{};
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      auto& target = *static_cast<std::optional<T>*>(to);
      const auto& source = *static_cast<const std::optional<T>*>(from);
      target.reset();
      if (source) queue_copy(target.emplace(copy_or_queue(*source)), *source, pending);
    };
    type.clear = [](void* object) { static_cast<std::optional<T>*>(object)->reset(); };
    return type;
  }
};

template <class... T>
struct ContainerType<std::variant<T...>> {
  static constexpr NodeType make() {
    NodeType type{Role::holder, type_name<std::variant<T...>>()};
    type.target = [](void* object) {
      auto& held = *static_cast<std::variant<T...>*>(object);
      if (held.valueless_by_exception()) return Node{};
      return std::visit([](auto& alternative) { return node_of(alternative); }, held);
    };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      auto& target = *static_cast<std::variant<T...>*>(to);
      const auto& source = *static_cast<const std::variant<T...>*>(from);
      [&]<std::size_t... I>(std::index_sequence<I...>) { (copy_alternative<I>(target, source, pending), ...); }
      (std::index_sequence_for<T...>());
    };
    return type;
  }

 private:
  template <std::size_t I>
  static void copy_alternative(std::variant<T...>& to, const std::variant<T...>& from, PendingCopies& pending) {
    if (from.index() != I) return;
    const auto& alternative = std::get<I>(from);
    queue_copy(to.template emplace<I>(copy_or_queue(alternative)), alternative, pending);
  }
};

// What owners of one object have in common. A pointer to a base class would be cut off at the base when it is copied,
// so the object must be of the very type that the pointer names.
template <class T>
Node pointee(T* object) {
  if (object == nullptr) return {};
  if constexpr (std::is_polymorphic_v<T>) {
    if (typeid(*object) != typeid(T)) throw_derived_pointee(type_name<T>(), typeid(*object).name());
  }
  return node_of(*object);
}

template <class T>
struct ContainerType<std::unique_ptr<T>> {
  static constexpr NodeType make() {
    NodeType type{Role::holder, type_name<std::unique_ptr<T>>()};
    type.target = [](void* object) { return pointee(static_cast<std::unique_ptr<T>*>(object)->get()); };
    type.copy = [](void* to, const void* from, PendingCopies& pending) {
      auto& target = *static_cast<std::unique_ptr<T>*>(to);
      const auto& source = *static_cast<const std::unique_ptr<T>*>(from);
      pointee(source.get());
      target = source ? std::make_unique<T>(copy_or_queue(*source)) : nullptr;
      if (source) queue_copy(*target, *source, pending);
    };
    type.take_target = [](void* object) -> std::shared_ptr<void> {
      return std::shared_ptr<T>(std::move(*static_cast<std::unique_ptr<T>*>(object)));
    };
    type.clear = [](void* object) { static_cast<std::unique_ptr<T>*>(object)->reset(); };
    return type;
  }
};

template <class T>
struct ContainerType<std::shared_ptr<T>> {
  static constexpr NodeType make() {
    using Pointer = std::shared_ptr<T>;
    NodeType type{Role::shared, type_name<Pointer>()};
    type.target = [](void* object) { return pointee(static_cast<Pointer*>(object)->get()); };
    type.copy = [](void* to, const void* from, PendingCopies&) {
      *static_cast<Pointer*>(to) = *static_cast<const Pointer*>(from);
    };
    type.copy_target = [](const void* object, PendingCopies& pending) -> std::shared_ptr<void> {
      const T& source = **static_cast<const Pointer*>(object);
      auto fresh = std::make_shared<T>(copy_or_queue(source));
      queue_copy(*fresh, source, pending);
      return fresh;
    };
    type.set_target = [](void* object, const std::shared_ptr<void>& target) {
      *static_cast<Pointer*>(object) = std::static_pointer_cast<T>(target);
    };
    type.take_target = [](void* object) -> std::shared_ptr<void> { return std::move(*static_cast<Pointer*>(object)); };
    type.clear = [](void* object) { static_cast<Pointer*>(object)->reset(); };
    return type;
  }
};

}  // namespace strata::internal
