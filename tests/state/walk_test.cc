// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "strata/state/internal/clone.h"
#include "strata/state/internal/leaves.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using internal::Node;
using internal::node_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text(const internal::Trail& trail) { return to_string(trail.path()); }

class Recorder final : public internal::WalkHandler {
 public:
  void variable(const internal::Trail& keys, Variable&, Node) override { met.push_back("variable " + text(keys)); }
  void group(const internal::Trail& keys, Node) override { met.push_back("group " + text(keys)); }
  void value(const internal::Trail& keys, Node) override { met.push_back("value " + text(keys)); }
  void holder(const internal::Trail& keys, Node, Node target) override {
    met.push_back((target.object == nullptr ? "empty " : "holder ") + text(keys));
  }
  void shared(const internal::Trail& keys, Node, Node, Index number, bool first) override {
    met.push_back((first ? "shared " : "again ") + text(keys) + " #" + std::to_string(number));
  }

  std::vector<std::string> met;
};

template <class M>
std::vector<std::string> walk_through(M& module) {
  Recorder recorder;
  internal::walk(node_of(module), recorder);
  return recorder.met;
}

template <class M>
std::vector<std::string> paths_of(M& module) {
  std::vector<std::string> paths;
  for (const auto& leaf : internal::collect_leaves(node_of(module))) paths.push_back(to_string(leaf.path));
  return paths;
}

struct Tied {
  std::shared_ptr<Param> b = std::make_shared<Param>(ones({2}));
  std::shared_ptr<Param> a = b;
  std::shared_ptr<Param> none;
  std::optional<int> width = 2;
  std::vector<Param> list{1};
  STRATA_FIELDS(b, a, none, width, list)
};

TEST(Walk, VisitsEverythingInTheOrderOfKeysAndSharedObjectsOnce) {
  Tied tied;
  EXPECT_THAT(walk_through(tied), ElementsAre("group ", "shared a #1", "variable a", "again b #1", "group list",
                                              "variable list/0", "empty none", "value width"));
}

struct Link {
  std::shared_ptr<Link> next;
  std::optional<Param> value;
  STRATA_FIELDS(next, value)
};

TEST(Walk, AWayBackToTheRootIsNotFollowed) {
  auto link = std::make_shared<Link>();
  link->next = link;
  link->value = Param();
  EXPECT_THAT(walk_through(*link), ElementsAre("group ", "again next #0", "holder value", "variable value"));
  link->next = nullptr;
}

TEST(Walk, CyclesAreVisitedOnce) {
  auto first = std::make_shared<Link>();
  auto second = std::make_shared<Link>();
  first->next = second;
  second->next = first;
  first->value = second->value = Param();
  EXPECT_THAT(paths_of(first), ElementsAre("next/value", "value"));
  first->next = nullptr;
}

struct Layer {
  virtual ~Layer() = default;
  Param scale;
  STRATA_FIELDS(scale)
};
struct WideLayer : Layer {
  Param bias;
  STRATA_FIELDS_EXTEND(Layer, bias)
};
struct Owner {
  std::unique_ptr<Layer> layer;
  STRATA_FIELDS(layer)
};

TEST(Walk, RefusesToSeeADerivedModuleThroughItsBase) {
  Owner owner{std::make_unique<WideLayer>()};
  EXPECT_THAT([&] { paths_of(owner); }, ThrowsMessage<StateError>(HasSubstr("holds an object of the derived class")));
}

TEST(Walk, SeesAPolymorphicModuleOfTheVeryType) {
  Owner owner{std::make_unique<Layer>()};
  EXPECT_THAT(paths_of(owner), ElementsAre("layer/scale"));
}

// ---------------------------------------------------------------- copies

TEST(Clone, SharesNoObjectWithTheOriginalAndKeepsTheSharing) {
  const Tied tied;
  Tied copy = internal::clone(tied);
  EXPECT_EQ(copy.a, copy.b);
  EXPECT_NE(copy.a, tied.a);
  copy.a->set_value(zeros({2}));
  EXPECT_TRUE(identical(*tied.a, ones({2})));
}

TEST(Clone, KeepsCycles) {
  auto first = std::make_shared<Link>();
  first->next = std::make_shared<Link>();
  first->next->next = first;
  const std::shared_ptr<Link> copy = internal::clone(first);
  EXPECT_NE(copy, first);
  EXPECT_NE(copy->next, first->next);
  EXPECT_EQ(copy->next->next, copy);
  copy->next = nullptr;
  first->next = nullptr;
}

TEST(Clone, KeepsASelfCycle) {
  auto link = std::make_shared<Link>();
  link->next = link;
  const std::shared_ptr<Link> copy = internal::clone(link);
  EXPECT_NE(copy, link);
  EXPECT_EQ(copy->next, copy);
  copy->next = nullptr;
  link->next = nullptr;
}

struct Graph {
  std::vector<std::shared_ptr<Graph>> edges;
  STRATA_FIELDS(edges)
};

TEST(Clone, RefusesAWayBackToARootThatItDoesNotOwn) {
  auto root = std::make_shared<Graph>();
  auto knot = std::make_shared<Graph>();
  knot->edges = {knot, root};  // a cycle that must not leak from the attempt
  root->edges = {knot};
  EXPECT_THAT([&] { (void)internal::clone(*root); }, ThrowsMessage<StateError>(HasSubstr("\"edges/0/edges/1\"")));
  EXPECT_EQ(knot->edges, (std::vector{knot, root}));
  knot->edges.clear();
}

TEST(Clone, RefusesADerivedModuleBehindItsBaseAndCutsNothingOff) {
  const Owner owner{std::make_unique<WideLayer>()};
  EXPECT_THROW((void)internal::clone(owner), StateError);
}

struct Robot {
  explicit Robot(int count) : joints(static_cast<std::size_t>(count)) {}
  std::vector<Param> joints;
  std::unique_ptr<Param> tool = std::make_unique<Param>(ones({2}));
  STRATA_FIELDS(joints, tool)
};

}  // namespace

template <>
struct Blank<Robot> {
  static Robot make() { return Robot(0); }
};

namespace {

TEST(Clone, MakesWhatCannotBeCopiedFromABlank) {
  const Robot robot(3);
  const Robot copy = internal::clone(robot);
  EXPECT_EQ(copy.joints.size(), 3U);
  EXPECT_NE(copy.tool, robot.tool);
  EXPECT_TRUE(identical(*copy.tool, ones({2})));
}

TEST(Clone, CopiesOwnersInEveryContainer) {
  using Own = std::unique_ptr<Param>;
  struct Owners {
    std::vector<Own> vector;
    std::array<Own, 2> array;
    std::map<std::string, Own> map;
    std::optional<Own> optional;
    std::tuple<Own, int> tuple;
    std::pair<int, Own> pair;
    std::variant<int, Own, Own> variant;
    std::unique_ptr<Own> owner;
    std::shared_ptr<Own> shared;
    int width = 0;
    STRATA_FIELDS(vector, array, map, optional, tuple, pair, variant, owner, shared, width)
  } owners;
  const auto own = [](float value) { return std::make_unique<Param>(scalar(value)); };
  owners.vector.push_back(own(1));
  owners.vector.push_back(nullptr);
  owners.array[1] = own(2);
  owners.map["x"] = own(3);
  owners.optional = own(4);
  owners.tuple = {own(5), 6};
  owners.pair = {7, own(8)};
  owners.variant.emplace<2>(own(9));
  owners.owner = std::make_unique<Own>(own(10));
  owners.shared = std::make_shared<Own>(own(11));
  owners.width = 12;
  Owners copy = internal::clone(owners);
  EXPECT_EQ(internal::state_of(node_of(copy)), internal::state_of(node_of(owners)));
  EXPECT_EQ(copy.vector.size(), 2U);
  EXPECT_EQ(std::get<1>(copy.tuple), 6);
  EXPECT_EQ(copy.pair.first, 7);
  EXPECT_EQ(copy.variant.index(), 2U);
  EXPECT_EQ(copy.width, 12);
  EXPECT_NE(copy.vector[0], owners.vector[0]);
}

// ---------------------------------------------------------------- depth

constexpr int deep = 100000;

struct Chain {
  std::unique_ptr<Chain> next;
  std::optional<Param> value;
  STRATA_FIELDS(next, value)
};

template <class C>
C make_chain() {
  C first;
  C* last = &first;
  for (int i = 0; i < deep; ++i) last = (last->next = decltype(first.next)(new C())).get();
  last->value = Param(ones({2}));
  return first;
}

// Destructors of a chain recurse; a test takes it apart link by link.
template <class C>
void take_apart(C& chain) {
  for (auto next = std::move(chain.next); next;) next = std::exchange(next->next, nullptr);
}

template <class C>
class DeepChain : public testing::Test {};
using Chains = testing::Types<Chain, Link>;
TYPED_TEST_SUITE(DeepChain, Chains);

TYPED_TEST(DeepChain, IsWalkedWithoutRecursion) {
  TypeParam chain = make_chain<TypeParam>();
  const auto leaves = internal::collect_leaves(node_of(chain));
  ASSERT_EQ(leaves.size(), 1U);
  EXPECT_EQ(leaves[0].path.depth(), deep + 1);
  take_apart(chain);
}

TYPED_TEST(DeepChain, IsClonedWithoutRecursion) {
  TypeParam chain = make_chain<TypeParam>();
  TypeParam copy = internal::clone(chain);
  EXPECT_EQ(internal::collect_leaves(node_of(copy)).size(), 1U);
  take_apart(copy);
  EXPECT_EQ(internal::collect_leaves(node_of(chain)).size(), 1U);
  take_apart(chain);
}

TYPED_TEST(DeepChain, IsTakenDownWithoutRecursion) {
  TypeParam chain = make_chain<TypeParam>();
  internal::dismantle(node_of(chain));
  EXPECT_EQ(chain.next, nullptr);
}

// A value that cannot be copied after all.
struct Fragile {
  Fragile() = default;
  Fragile(const Fragile&) { throw std::runtime_error("fragile"); }
  Fragile& operator=(const Fragile&) = default;
  bool operator==(const Fragile&) const = default;
};
template <template <class...> class Owner>
struct FragileChain {
  Owner<FragileChain> next;
  std::optional<Fragile> end;
  Param weight{tensor({1.0F})};
  STRATA_FIELDS(next, end, weight)
};
template <class T>
using Unique = std::unique_ptr<T>;

template <class C>
class UnfinishedClone : public testing::Test {};
using FragileChains = testing::Types<FragileChain<Unique>, FragileChain<std::shared_ptr>>;
TYPED_TEST_SUITE(UnfinishedClone, FragileChains);

// Deep enough to overflow the stack if what was copied came down recursively.
TYPED_TEST(UnfinishedClone, ComesDownWithoutRecursionAndLeavesTheOriginal) {
  TypeParam first;
  TypeParam* last = &first;
  for (int i = 0; i < deep; ++i) {
    last->next = decltype(first.next)(new TypeParam);
    last = last->next.get();
  }
  last->end.emplace();
  EXPECT_THROW(internal::clone(first), std::runtime_error);
  EXPECT_EQ(internal::collect_leaves(node_of(first)).size(), static_cast<std::size_t>(deep) + 1);
  take_apart(first);
}

TEST(UnfinishedCloneOfACycle, LeaksNothing) {
  using Ring = FragileChain<std::shared_ptr>;
  auto first = std::make_shared<Ring>();
  first->next = std::make_shared<Ring>();
  first->next->next = first;
  first->next->end.emplace();
  EXPECT_THROW(internal::clone(first), std::runtime_error);
  EXPECT_EQ(first.use_count(), 2);
  first->next->next = nullptr;
}

TEST(Dismantle, FreesCycles) {
  auto link = std::make_shared<Link>();
  link->next = std::make_shared<Link>();
  link->next->next = link;
  const std::weak_ptr<Link> watcher = link->next;
  internal::dismantle(node_of(link));
  EXPECT_EQ(link, nullptr);
  EXPECT_TRUE(watcher.expired());
}

struct Scale {
  Param weight{tensor({1.0F})};
  STRATA_FIELDS(weight)
};

// Places that own a scale or a variable, and places that may share them, in both orders of the walk.
struct SharedBesideMembers {
  std::shared_ptr<Scale> after;
  std::shared_ptr<Param> after_weight;
  Scale member;
  std::optional<Scale> optional;
  std::shared_ptr<Scale> zone;
  std::shared_ptr<Param> zone_weight;
  STRATA_FIELDS(after, after_weight, member, optional, zone, zone_weight)
};

// A shared_ptr that does not own what it points to.
template <class T>
std::shared_ptr<T> pointer_into(T& member) {
  return std::shared_ptr<T>(std::shared_ptr<void>(), &member);
}

TEST(Walk, TakesSharedObjectsOfTheTypeOfMembers) {
  SharedBesideMembers module;
  module.after = module.zone = std::make_shared<Scale>();
  module.after_weight = module.zone_weight = std::make_shared<Param>(tensor({1.0F}));
  module.optional.emplace();
  EXPECT_EQ(internal::collect_leaves(node_of(module)).size(), 4U);
}

TEST(Walk, RefusesPointersToMembersWhereverTheyStand) {
  const auto expect_refused = [](auto&& set, const char* type) {
    SharedBesideMembers module;
    module.optional.emplace();
    set(module);
    EXPECT_THAT([&] { internal::collect_leaves(node_of(module)); },
                ThrowsMessage<StateError>(HasSubstr("a shared_ptr points to a " + std::string(type))));
  };
  using M = SharedBesideMembers;
  expect_refused([](M& m) { m.after = pointer_into(m.member); }, "");
  expect_refused([](M& m) { m.zone = pointer_into(m.member); }, "");
  expect_refused([](M& m) { m.after = pointer_into(*m.optional); }, "");
  expect_refused([](M& m) { m.after_weight = pointer_into(m.member.weight); }, "Param");
  expect_refused([](M& m) { m.zone_weight = pointer_into(m.optional->weight); }, "Param");
  expect_refused(
      [](M& m) {
        m.after = std::make_shared<Scale>();
        m.zone_weight = pointer_into(m.after->weight);
      },
      "Param");
}

}  // namespace
}  // namespace strata
