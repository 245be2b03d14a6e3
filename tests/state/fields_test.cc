// SPDX-License-Identifier: Apache-2.0
#include "strata/state/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "strata/state/internal/leaves.h"
#include "strata/state/internal/node_of.h"
#include "strata/tensor/create.h"

namespace strata {
namespace {

using testing::ElementsAre;

// The paths of all variables of a module.
template <class M>
std::vector<std::string> paths_of(M& module) {
  std::vector<std::string> paths;
  for (const auto& leaf : internal::collect_leaves(internal::node_of(module))) paths.push_back(to_string(leaf.path));
  return paths;
}

struct Dense {
  Param kernel{ones({2, 2})};
  Param bias{zeros({2})};
  int features = 2;
  STRATA_FIELDS(kernel, bias, features)
};

struct Empty {
  STRATA_FIELDS()
};

TEST(Fields, AreOrderedByNameNotByDeclaration) {
  Dense dense;
  EXPECT_THAT(paths_of(dense), ElementsAre("bias", "kernel"));
}

TEST(Fields, AModuleMayHaveNone) {
  Empty empty;
  EXPECT_THAT(paths_of(empty), ElementsAre());
}

TEST(Fields, KeysAreTheExactNamesOfMembers) {
  struct Gates {
    Param if_;
    Param _hidden;
    Param Upper;
    Param a9;
    STRATA_FIELDS(if_, _hidden, Upper, a9)
  } gates;
  EXPECT_THAT(paths_of(gates), ElementsAre("Upper", "_hidden", "a9", "if_"));
}

TEST(Fields, MayBeListedOverSeveralLines) {
  struct Lines {
    Param a;
    Param b;
    STRATA_FIELDS(a,  //
                  b)
  } lines;
  EXPECT_THAT(paths_of(lines), ElementsAre("a", "b"));
}

class Private {
  Param scale_{ones({2})};
  STRATA_FIELDS(scale_)
};

TEST(Fields, MayBePrivateTheMacroIncluded) {
  Private module;
  EXPECT_THAT(paths_of(module), ElementsAre("scale_"));
}

class Base {
 public:
  Param scale;
  bool flag = false;
  STRATA_FIELDS(scale, flag)
};

class Derived : public Base {
  char first_ = 'a';  // may stand in the padding of the base
  Param bias_;

 public:
  STRATA_FIELDS_EXTEND(Base, first_, bias_)
};

struct Further : Derived {
  Dense dense;
  STRATA_FIELDS_EXTEND(Derived, dense)
};

TEST(Fields, ABaseModuleIsExtended) {
  Derived derived;
  EXPECT_THAT(paths_of(derived), ElementsAre("bias_", "scale"));
}

TEST(Fields, BasesMayHaveBases) {
  Further further;
  EXPECT_THAT(paths_of(further), ElementsAre("bias_", "dense/bias", "dense/kernel", "scale"));
}

struct AddsNothing : Base {
  STRATA_FIELDS_EXTEND(Base, )
};

TEST(Fields, ADerivedModuleMayAddNone) {
  AddsNothing module;
  EXPECT_THAT(paths_of(module), ElementsAre("scale"));
}

struct OfEmptyBase : Empty {
  Param scale;
  STRATA_FIELDS_EXTEND(Empty, scale)
};

struct Mixin {};
struct WithMixin : Mixin {
  Param scale;
  STRATA_FIELDS(scale)
};

TEST(Fields, EmptyBasesTakeNoPlace) {
  OfEmptyBase extended;
  WithMixin mixed;
  EXPECT_THAT(paths_of(extended), ElementsAre("scale"));
  EXPECT_THAT(paths_of(mixed), ElementsAre("scale"));
}

struct Interface {
  virtual ~Interface() = default;
  [[nodiscard]] virtual int width() const = 0;
};

struct Implementation : Interface {
  Param scale;
  [[nodiscard]] int width() const override { return 1; }
  STRATA_FIELDS(scale)
};

struct VirtualOnBase : Base {
  virtual ~VirtualOnBase() = default;
  Param bias;
  STRATA_FIELDS_EXTEND(Base, bias)
};

TEST(Fields, ClassesMayBePolymorphic) {
  Implementation implementation;
  VirtualOnBase on_base;
  EXPECT_THAT(paths_of(implementation), ElementsAre("scale"));
  EXPECT_THAT(paths_of(on_base), ElementsAre("bias", "scale"));
}

template <class Inner, int n>
struct Template {
  std::array<Inner, n> inner;
  Param scale;
  STRATA_FIELDS(inner, scale)
};

TEST(Fields, ClassesMayBeTemplates) {
  Template<Dense, 2> module;
  EXPECT_THAT(paths_of(module),
              ElementsAre("inner/0/bias", "inner/0/kernel", "inner/1/bias", "inner/1/kernel", "scale"));
}

struct alignas(64) Aligned {
  alignas(32) Param first;
  [[maybe_unused]] static constexpr int size = 3;
  Param second;
  STRATA_FIELDS(first, second)
};

TEST(Fields, AlignmentAndStaticMembersDoNotMatter) {
  Aligned aligned;
  EXPECT_THAT(paths_of(aligned), ElementsAre("first", "second"));
}

TEST(Fields, ThereMayBeManyOfThem) {
  struct Many {
    Param p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20;
    Param p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38, p39, p40, p41;
    STRATA_FIELDS(p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19,
                  p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38, p39,
                  p40, p41)
  } many;
  EXPECT_EQ(paths_of(many).size(), 42U);
}

TEST(Fields, ModuleTellsModulesFromOtherClasses) {
  struct ForgotToExtend : Base {
    Param bias;
  };
  EXPECT_TRUE(Module<Dense>);
  EXPECT_TRUE(Module<Derived>);
  EXPECT_FALSE(Module<ForgotToExtend>);
  EXPECT_FALSE(Module<Param>);
  EXPECT_FALSE(Module<int>);
}

// ---------------------------------------------------------------- containers

TEST(Containers, VectorAndArrayUsePositions) {
  struct Lists {
    std::vector<Param> list{3};
    std::array<Dense, 1> block;
    STRATA_FIELDS(list, block)
  } lists;
  EXPECT_THAT(paths_of(lists), ElementsAre("block/0/bias", "block/0/kernel", "list/0", "list/1", "list/2"));
}

TEST(Containers, MapUsesItsKeys) {
  struct Maps {
    std::map<std::string, Param> texts{{"10", {}}, {"2", {}}, {"a/b", {}}};
    std::map<int, Param> numbers{{10, {}}, {2, {}}, {-1, {}}};
    std::map<std::string, Param, std::less<>> transparent{{"x", {}}};
    STRATA_FIELDS(texts, numbers, transparent)
  } maps;
  EXPECT_THAT(paths_of(maps), ElementsAre("numbers/-1", "numbers/2", "numbers/10", "texts/'10'", "texts/'2'",
                                          "texts/'a/b'", "transparent/x"));
}

TEST(Containers, TupleAndPairUsePositions) {
  struct Tuples {
    std::tuple<Param, int, Dense> tuple;
    std::pair<BatchStat, Param> pair;
    STRATA_FIELDS(tuple, pair)
  } tuples;
  EXPECT_THAT(paths_of(tuples), ElementsAre("pair/0", "pair/1", "tuple/0", "tuple/2/bias", "tuple/2/kernel"));
}

TEST(Containers, HoldersAddNoKey) {
  struct Holders {
    std::optional<Param> some = Param();
    std::optional<Param> none;
    std::variant<int, Dense> choice = Dense();
    std::variant<int, Dense> number = 3;
    std::unique_ptr<Param> owner = std::make_unique<Param>();
    std::unique_ptr<Param> nobody;
    std::shared_ptr<Dense> shared = std::make_shared<Dense>();
    STRATA_FIELDS(some, none, choice, number, owner, nobody, shared)
  } holders;
  EXPECT_THAT(paths_of(holders),
              ElementsAre("choice/bias", "choice/kernel", "owner", "shared/bias", "shared/kernel", "some"));
}

TEST(Containers, NestInEachOther) {
  struct Nested {
    std::map<std::string, std::vector<std::optional<std::variant<Param, std::shared_ptr<Dense>>>>> heads;
    STRATA_FIELDS(heads)
  } nested;
  nested.heads["a"].emplace_back(Param());
  nested.heads["a"].emplace_back(std::nullopt);
  nested.heads["a"].emplace_back(std::make_shared<Dense>());
  nested.heads["b"];
  EXPECT_THAT(paths_of(nested), ElementsAre("heads/a/0", "heads/a/2/bias", "heads/a/2/kernel"));
}

TEST(Containers, OfPlainValuesArePlainValues) {
  struct Values {
    std::vector<int> sizes{1, 2};
    std::map<std::string, double> rates;
    std::optional<bool> flag;
    STRATA_FIELDS(sizes, rates, flag)
  } values;
  EXPECT_THAT(paths_of(values), ElementsAre());
  EXPECT_FALSE(internal::holds_state<std::vector<int>>());
  EXPECT_FALSE(internal::hides_state<std::vector<int>>());
  EXPECT_FALSE(internal::hides_state<const char*>());
  EXPECT_FALSE(internal::hides_state<void*>());
  EXPECT_FALSE((internal::hides_state<bool (*)(int)>()));
}

TEST(Containers, OthersThatHoldVariablesAreNoPlainValues) {
  EXPECT_TRUE(internal::hides_state<std::weak_ptr<Dense>>());
  EXPECT_TRUE(internal::hides_state<std::shared_ptr<const Dense>>());
  EXPECT_TRUE(internal::hides_state<Param*>());
  EXPECT_TRUE((internal::hides_state<std::vector<const Param*>>()));
  EXPECT_TRUE(internal::hides_state<Param[2]>());
}

struct Tree {
  std::vector<Tree> children;
  std::map<std::string, Tree> named;
  Param value;
  STRATA_FIELDS(children, named, value)
};

TEST(Containers, TypesMayContainThemselves) {
  Tree tree;
  tree.children.resize(2);
  tree.children[1].named["x"];
  EXPECT_THAT(paths_of(tree), ElementsAre("children/0/value", "children/1/named/x/value", "children/1/value", "value"));
}

}  // namespace
}  // namespace strata
