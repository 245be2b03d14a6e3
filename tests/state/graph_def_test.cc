// SPDX-License-Identifier: Apache-2.0
#include "strata/state/graph_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "strata/state/internal/leaves.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Dense {
  explicit Dense(Index in = 2, Index out = 3) : kernel(ones({in, out})), bias(zeros({out})) {}
  Param kernel;
  Param bias;
  std::string activation = "relu";
  double eps = 1e-8;
  STRATA_FIELDS(kernel, bias, activation, eps)
};

struct Net {
  std::vector<Dense> layers{Dense(2, 3), Dense(3, 1)};
  BatchStat mean{zeros({3}), tagged("running")};
  std::shared_ptr<Param> a = std::make_shared<Param>(ones({2}));
  std::shared_ptr<Param> b = a;
  std::optional<Dense> skip;
  std::variant<int, Dense> choice = 7;
  STRATA_FIELDS(layers, mean, a, b, skip, choice)
};

State state_of(Net& net) { return internal::state_of(internal::node_of(net)); }

// Equal, and of one hash.
template <class M>
void expect_same(const M& a, const M& b) {
  EXPECT_EQ(GraphDef(a), GraphDef(b));
  EXPECT_EQ(GraphDef(a).hash(), GraphDef(b).hash());
}

TEST(GraphDef, ValuesAndShapesPlayNoPart) {
  expect_same(Dense(2, 3), Dense(4, 5));
  Net other;
  other.mean.reset(ones({8}, DType::float64));
  expect_same(Net(), other);
}

TEST(GraphDef, DiffersByAPlainValue) {
  Dense other;
  other.activation = "tanh";
  EXPECT_NE(GraphDef(Dense()), GraphDef(other));
}

TEST(GraphDef, DiffersByMetadata) {
  Dense other;
  other.bias.set_metadata("tag", "a");
  EXPECT_NE(GraphDef(Dense()), GraphDef(other));
}

TEST(GraphDef, EqualMetadataHashAlike) {
  Dense plus;
  Dense minus;
  plus.bias.set_metadata("scale", 0.0);
  minus.bias.set_metadata("scale", -0.0);
  expect_same(plus, minus);
}

TEST(GraphDef, DiffersByKindsThatAreKnownAtRunTimeOnly) {
  struct Untyped {
    Variable variable;
    STRATA_FIELDS(variable)
  };
  EXPECT_NE(GraphDef(Untyped{Param(ones({1}))}), GraphDef(Untyped{BatchStat(ones({1}))}));
  expect_same(Untyped{Param(ones({1}))}, Untyped{Param(ones({1}))});
}

TEST(GraphDef, DiffersByTheNumberOfElements) {
  Net other;
  other.layers.emplace_back();
  EXPECT_NE(GraphDef(Net()), GraphDef(other));
}

TEST(GraphDef, DiffersByWhatIsHeld) {
  Net some;
  some.skip = Dense();
  Net choice;
  choice.choice = Dense();
  EXPECT_NE(GraphDef(Net()), GraphDef(some));
  EXPECT_NE(GraphDef(Net()), GraphDef(choice));
}

TEST(GraphDef, DiffersBySharing) {
  Net untied;
  untied.b = std::make_shared<Param>(ones({2}));
  EXPECT_NE(GraphDef(Net()), GraphDef(untied));
}

TEST(GraphDef, CanBeAKeyOfHashedContainers) {
  const std::unordered_set<GraphDef<Dense>> graphs{GraphDef(Dense()), GraphDef(Dense(4, 4))};
  EXPECT_EQ(graphs.size(), 1U);
}

TEST(GraphDef, CopiesAreEqual) {
  const GraphDef graph{Net()};
  const GraphDef copy = graph;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy, graph);
}

TEST(GraphDef, PrintsTypesKindsValuesAndSharing) {
  struct Small {
    std::shared_ptr<Param> a = std::make_shared<Param>(ones({2}), tagged("t"));
    std::shared_ptr<Param> b = a;
    std::optional<Param> none;
    std::vector<BatchStat> list{1};
    double eps = 1e-8;
    float rate = 0.1F;
    bool flag = true;
    std::string name = "x";
    STRATA_FIELDS(a, b, none, list, eps, rate, flag, name)
  };
  std::ostringstream out;
  out << GraphDef(Small());
  const std::string text = out.str();
  for (const char* line : {"  a: Param (tag='t')\n", "  eps: 1e-08\n", "  flag: true\n", "    0: BatchStat\n",
                           "  name: 'x'\n", "  rate: 0.1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, testing::ContainsRegex("  b: .*shared_ptr<.*Param> #1\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  none: .*optional<.*Param> \\(empty\\)\n"));
}

struct Settings {
  DType dtype = DType::bfloat16;
  std::optional<Index> limit;
  std::vector<double> rates{0.5, -std::numeric_limits<double>::quiet_NaN()};
  float scale = std::numeric_limits<float>::quiet_NaN();
  STRATA_FIELDS(dtype, limit, rates, scale)
};

TEST(GraphDef, PrintsValuesAsTheyAreCalled) {
  const std::string text = to_string(GraphDef(Settings{}));
  EXPECT_THAT(text, HasSubstr("dtype: bfloat16\n"));
  EXPECT_THAT(text, HasSubstr("limit: none\n"));
  EXPECT_THAT(text, HasSubstr("rates: [0.5, nan]\n"));
}

TEST(GraphDef, AModuleWithANaNEqualsItself) {
  Settings plain;
  plain.rates = {1.0};
  EXPECT_EQ(GraphDef(plain), GraphDef(plain));
  EXPECT_EQ(GraphDef(plain).hash(), GraphDef(plain).hash());
}

TEST(GraphDef, HoldsNoValues) {
  Dense dense;
  const GraphDef graph(dense);
  const float* elements = dense.kernel.value().data<float>().data();
  Tensor value = dense.kernel.value();
  dense.kernel.reset(Tensor());
  EXPECT_EQ(value.mutable_data<float>().data(), elements);  // nobody else holds them, so that nothing is copied
}

// ---------------------------------------------------------------- building

TEST(GraphDefBuild, PutsTheModuleTogetherAgain) {
  Net net;
  net.layers[1].activation = "tanh";
  Net built = GraphDef(net).build(state_of(net));
  EXPECT_EQ(state_of(built), state_of(net));
  EXPECT_EQ(built.layers[1].activation, "tanh");
  EXPECT_EQ(std::get<int>(built.choice), 7);
}

// cases/state-01: merge keeps the tie.
TEST(GraphDefBuild, RestoresSharing) {
  Net net;
  const Net built = GraphDef(net).build(state_of(net));
  EXPECT_EQ(built.a, built.b);
  EXPECT_NE(built.a, net.a);
  built.b->set_value(full({2}, 9.0F));
  EXPECT_TRUE(identical(*built.a, full({2}, 9.0F)));
}

TEST(GraphDefBuild, MakesModulesOfTheirOwnEachTime) {
  Net net;
  const GraphDef graph(net);
  const State state = state_of(net);
  Net first = graph.build(state);
  first.layers[0].bias.set_value(full({3}, 5.0F));
  first.a->set_value(full({2}, 5.0F));
  Net second = graph.build(state);
  EXPECT_EQ(state_of(second), state);
}

TEST(GraphDefBuild, IsUntouchedByLaterChangesOfTheModule) {
  Net net;
  const GraphDef graph(net);
  const State before = state_of(net);
  net.layers.pop_back();
  net.a->set_value(zeros({2}));
  EXPECT_EQ(graph.build(before).layers.size(), 2U);
}

// cases/state-07: rebuilding with too many leaves, with a missing leaf.
TEST(GraphDefBuild, ListsEverythingThatDoesNotFit) {
  Net net;
  State state = state_of(net);
  state.erase({"layers", 0, "kernel"});
  state.set({"zz"}, Param(ones({1})));
  state.at({"mean"}).reset(ones({4}));
  state.at({"a"}).reset(ones({2}, DType::float64));
  EXPECT_THAT(
      [&] { (void)GraphDef(net).build(state); },
      ThrowsMessage<StateError>(AllOf(HasSubstr("[merge]"), HasSubstr("Missing: layers/0/kernel (Param float32[2, 3])"),
                                      HasSubstr("Unexpected: zz (Param float32[1])"),
                                      HasSubstr("mean (expected BatchStat float32[3], got BatchStat float32[4])"),
                                      HasSubstr("a (expected Param float32[2], got Param float64[2])"))));
}

TEST(GraphDefBuild, RefusesOtherKindsInTypedPlaces) {
  Dense dense;
  const State state{{{"kernel"}, BatchStat(ones({2, 3}))}, {{"bias"}, Param(zeros({3}))}};
  EXPECT_THAT([&] { (void)GraphDef(dense).build(state); },
              ThrowsMessage<StateError>(HasSubstr("expected Param float32[2, 3], got BatchStat float32[2, 3]")));
}

TEST(GraphDefBuild, TakesEntriesWithoutAKindEverywhere) {
  Dense dense;
  dense.bias.set_metadata("tag", "kept");
  const State state{{{"kernel"}, Variable(zeros({2, 3}))}, {{"bias"}, Variable(ones({3}))}};
  const Dense built = GraphDef(dense).build(state);
  EXPECT_TRUE(identical(built.bias, ones({3})));
  EXPECT_EQ(&built.bias.kind(), &kind_of<Param>());
  EXPECT_EQ(*built.bias.tag(), "kept");
}

TEST(GraphDefBuild, TakesKindsFromTheStateWhereThePlaceHasNone) {
  const std::vector<Variable> variables{Param(ones({1}))};
  const std::vector<Variable> built = GraphDef(variables).build(State{{{0}, Cache(ones({1}))}});
  EXPECT_EQ(&built[0].kind(), &kind_of<Cache>());
}

TEST(GraphDefBuild, TakesMetadataFromTheState) {
  Dense dense;
  const State state{{{"kernel"}, Param(ones({2, 3}), tagged("new"))}, {{"bias"}, Param(ones({3}))}};
  EXPECT_EQ(*GraphDef(dense).build(state).kernel.tag(), "new");
}

TEST(GraphDefBuild, AModuleWithoutVariablesNeedsNone) {
  struct Plain {
    int width = 3;
    STRATA_FIELDS(width)
  };
  EXPECT_EQ(GraphDef(Plain{5}).build(State()).width, 5);
}

// ---------------------------------------------------------------- depth and cycles

struct Owned {
  std::unique_ptr<Owned> next;
  std::optional<Param> value;
  STRATA_FIELDS(next, value)
};
struct Shared {
  std::shared_ptr<Shared> next;
  std::optional<Param> value;
  STRATA_FIELDS(next, value)
};

template <class C>
void take_apart(C& chain) {
  for (auto next = std::move(chain.next); next;) next = std::exchange(next->next, nullptr);
}

template <class C>
class DeepGraphDef : public testing::Test {};
using Chains = testing::Types<Owned, Shared>;
TYPED_TEST_SUITE(DeepGraphDef, Chains);

TYPED_TEST(DeepGraphDef, NeedsNoRecursion) {
  TypeParam chain;
  TypeParam* last = &chain;
  for (int i = 0; i < 100000; ++i) last = (last->next = decltype(chain.next)(new TypeParam())).get();
  last->value = Param(ones({2}));
  const State state = internal::state_of(internal::node_of(chain));
  const GraphDef graph(chain);
  TypeParam built = graph.build(state);
  EXPECT_EQ(GraphDef(built), graph);
  EXPECT_EQ(GraphDef(built).hash(), graph.hash());
  EXPECT_THROW((void)graph.build(State()), StateError);  // builds nothing that would have to be taken down
  take_apart(built);
  take_apart(chain);
}

TEST(GraphDefBuild, RestoresCycles) {
  auto first = std::make_shared<Shared>();
  first->next = std::make_shared<Shared>();
  first->next->next = first;
  first->value = Param(ones({2}));
  const State state{{{"value"}, Param(zeros({2}))}};
  const std::shared_ptr<Shared> built = GraphDef(first).build(state);
  EXPECT_EQ(built->next->next, built);
  EXPECT_TRUE(identical(*built->value, zeros({2})));
  built->next = nullptr;
  first->next = nullptr;
}

}  // namespace
}  // namespace strata
