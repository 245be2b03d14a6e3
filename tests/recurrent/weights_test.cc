// SPDX-License-Identifier: Apache-2.0
#include "strata/recurrent/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "strata/nn/activations.h"
#include "strata/nn/split.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/rnn.h"
#include "strata/recurrent/stacked.h"
#include "strata/state/subtree.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/manipulate.h"

namespace strata::recurrent {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using enum WeightLayout;

constexpr Index in = 2;
constexpr Index hidden = 3;

template <class C, class... O>
C cell(int seed = 0, O... options) {
  Rngs rngs(seed);
  return C{in, hidden, rngs, options...};
}

GRUCell gru(int seed, GRUForm form = GRUForm::reset_after, bool recurrent_bias = true) {
  return cell<GRUCell>(seed, GRUOptions{.form = form, .recurrent_bias = recurrent_bias});
}

// The same module with other numbers in its biases, which begin as zeros.
template <class M>
M with_biases(M module) {
  State state = nn::state(module);
  double value = 0.5;
  for (const auto& [path, variable] : nn::state(module)) {
    if (path.back() != Key("bias")) continue;
    const Tensor& bias = variable.value();
    state.at(path).reset((arange(bias.size()) * 0.25 + (value += 1)).astype(bias.dtype()));
  }
  nn::update(module, state);
  return module;
}

// Gate number g of an array whose rows count up from `begin`: rows [g hidden, (g + 1) hidden).
Tensor counting(Index begin, const Shape& shape) {
  return (arange(shape.num_elements()).reshape(shape) + begin).astype(DType::float32);
}

State lstm_of_pytorch() {
  return {{Path{"weight_ih_l0"}, Variable(counting(0, {12, 2}))},
          {Path{"weight_hh_l0"}, Variable(counting(100, {12, 3}))},
          {Path{"bias_ih_l0"}, Variable(counting(200, {12}))},
          {Path{"bias_hh_l0"}, Variable(counting(1000, {12}))}};
}

// ---------------------------------------------------------------- where each gate goes

TEST(LoadWeights, PyTorchsGatesAreTransposedAndTheirBiasesSummed) {
  LSTMCell lstm = cell<LSTMCell>();
  load_weights(lstm, lstm_of_pytorch(), pytorch);
  // Rows 3 to 5 of weight_ih_l0 are the forget gate's.
  EXPECT_TRUE(identical(lstm.if_.kernel, tensor({6.0f, 8.0f, 10.0f, 7.0f, 9.0f, 11.0f}, {2, 3})));
  EXPECT_TRUE(identical(lstm.ho.kernel.value()[0], tensor({127.0f, 130.0f, 133.0f})));
  EXPECT_TRUE(identical(*lstm.hg.bias, tensor({1212.0f, 1214.0f, 1216.0f})));
}

TEST(LoadWeights, OnnxHasTheGatesInTheOrderInputOutputForgetCell) {
  LSTMCell lstm = cell<LSTMCell>();
  load_weights(lstm,
               {{Path{"W"}, Variable(counting(0, {1, 12, 2}))},
                {Path{"R"}, Variable(counting(100, {1, 12, 3}))},
                {Path{"B"}, Variable(counting(0, {1, 24}))}},
               onnx);
  EXPECT_TRUE(identical(lstm.io.kernel.value()[0], tensor({6.0f, 8.0f, 10.0f})));
  EXPECT_TRUE(identical(lstm.if_.kernel.value()[0], tensor({12.0f, 14.0f, 16.0f})));
  EXPECT_TRUE(identical(lstm.ig.kernel.value()[0], tensor({18.0f, 20.0f, 22.0f})));
  EXPECT_TRUE(identical(*lstm.ho.bias, tensor({3.0f + 15, 4.0f + 16, 5.0f + 17})));
}

TEST(LoadWeights, KerasHasTheGatesOfAGruInTheOrderUpdateResetNew) {
  GRUCell cell = gru(0);
  load_weights(cell,
               {{Path{"gru_cell", "kernel"}, Variable(counting(0, {2, 9}))},
                {Path{"gru_cell", "recurrent_kernel"}, Variable(counting(100, {3, 9}))},
                {Path{"gru_cell", "bias"}, Variable(counting(0, {2, 9}))}},
               keras);
  EXPECT_TRUE(
      identical(cell.dense_i.kernel.value()[0], tensor({3.0f, 4.0f, 5.0f, 0.0f, 1.0f, 2.0f, 6.0f, 7.0f, 8.0f})));
  EXPECT_TRUE(identical(*cell.dense_h.bias, tensor({12.0f, 13.0f, 14.0f, 9.0f, 10.0f, 11.0f, 15.0f, 16.0f, 17.0f})));
}

TEST(LoadWeights, TheModulesOfPyTorchsCellsHaveNoLayerInTheirNames) {
  State weights;
  for (const auto& [path, variable] : lstm_of_pytorch()) {
    const std::string& name = path.back().text();
    weights.set({name.substr(0, name.size() - 3)}, variable);
  }
  LSTMCell lstm = cell<LSTMCell>();
  load_weights(lstm, weights, pytorch);
  EXPECT_TRUE(identical(*lstm.hg.bias, tensor({1212.0f, 1214.0f, 1216.0f})));
}

TEST(LoadWeights, AbsentBiasesAreZero) {
  LSTMCell lstm = with_biases(cell<LSTMCell>());
  State weights = lstm_of_pytorch();
  weights.erase({"bias_ih_l0"});
  weights.erase({"bias_hh_l0"});
  load_weights(lstm, weights, pytorch);
  EXPECT_TRUE(identical(*lstm.hf.bias, zeros({3})));
}

// ---------------------------------------------------------------- paths

TEST(LoadWeights, ThePrefixNamesThePartThatIsMeant) {
  State weights = with_prefix(lstm_of_pytorch(), {"model", 0, "lstm"});
  weights.set({"head", "weight"}, Variable(ones({2})));
  OptimizedLSTMCell lstm = cell<OptimizedLSTMCell>();
  load_weights(lstm, weights, pytorch, {.prefix = "model/0/lstm"});
  EXPECT_EQ(lstm.dense_h.bias->value().at<float>({0}), 1200.0f);
}

TEST(LoadWeights, RulesMakeOtherNamesThoseOfTheLayout) {
  const State weights{{Path{"enc_kernel"}, Variable(counting(0, {2, 12}))},
                      {Path{"enc_recurrent"}, Variable(counting(100, {3, 12}))},
                      {Path{"enc_bias"}, Variable(counting(200, {12}))}};
  LSTMCell lstm = cell<LSTMCell>();
  load_weights(lstm, weights, keras,
               {.prefix = "enc",
                .rename = {nn::rename_prefix("enc_kernel", "enc/kernel"), nn::rename_prefix("enc_bias", "enc/bias"),
                           nn::rename_prefix("enc_recurrent", "enc/recurrent_kernel")}});
  EXPECT_TRUE(identical(*lstm.hi.bias, tensor({200.0f, 201.0f, 202.0f})));
}

TEST(LoadWeights, ABidirectionalOfKerasIsFoundByTheNamesOfItsLayers) {
  const Bidirectional<LSTMCell> source{with_biases(cell<LSTMCell>(1)), with_biases(cell<LSTMCell>(2))};
  const State exported = export_weights(source, keras);
  State weights = with_prefix(subtree(exported, {"forward"}), {"bidirectional", "forward_lstm", "lstm_cell"});
  for (const auto& [path, variable] : subtree(exported, {"backward"})) {
    weights.set(Path{"bidirectional", "backward_lstm", "lstm_cell"} / path, variable);
  }
  Bidirectional<LSTMCell> target{cell<LSTMCell>(3), cell<LSTMCell>(4)};
  load_weights(target, weights, keras);
  EXPECT_EQ(nn::state(target), nn::state(source));
}

TEST(LoadWeights, FlaxTreesAreReadWithAndWithoutTheLayerAroundTheCell) {
  const RNN<LSTMCell> source(with_biases(cell<LSTMCell>(1)));
  for (const Path& cut : {Path{}, Path{"cell"}}) {
    RNN<OptimizedLSTMCell> target(cell<OptimizedLSTMCell>(2));
    load_weights(target, subtree(export_weights(source, flax_linen), cut), flax_linen);
    EXPECT_EQ(export_weights(target, flax_linen), export_weights(source, flax_linen));
  }
}

TEST(LoadWeights, TheForgetGateIsCalledByTheLanguage) {
  EXPECT_TRUE(export_weights(cell<LSTMCell>(), flax_linen).contains({"if", "kernel"}));
  EXPECT_TRUE(export_weights(cell<LSTMCell>(), flax_nnx).contains({"if_", "kernel"}));
}

TEST(LoadWeights, NnxTreesAreOursAndFitEitherLstm) {
  const LSTMCell source = with_biases(cell<LSTMCell>(1));
  EXPECT_EQ(export_weights(source, flax_nnx), nn::state(source));
  OptimizedLSTMCell fused = cell<OptimizedLSTMCell>(2);
  load_weights(fused, nn::state(source), flax_nnx);
  LSTMCell back = cell<LSTMCell>(3);
  load_weights(back, nn::state(fused), flax_nnx);
  EXPECT_EQ(nn::state(back), nn::state(source));
}

// ---------------------------------------------------------------- back again

template <class M>
void expect_round_trip(const M& source, M target, WeightLayout layout) {
  load_weights(target, export_weights(source, layout), layout);
  EXPECT_EQ(nn::state(target), nn::state(source)) << "layout " << static_cast<int>(layout);
}

TEST(ExportWeights, IsTheInverseOfLoading) {
  for (const WeightLayout layout : {pytorch, keras, onnx, flax_linen, flax_nnx}) {
    expect_round_trip(with_biases(cell<LSTMCell>(1)), cell<LSTMCell>(2), layout);
    expect_round_trip(with_biases(cell<OptimizedLSTMCell>(1)), cell<OptimizedLSTMCell>(2), layout);
    expect_round_trip(with_biases(cell<SimpleCell>(1)), cell<SimpleCell>(2), layout);
    expect_round_trip(with_biases(gru(1, GRUForm::reset_after, false)), gru(2, GRUForm::reset_after, false), layout);
    expect_round_trip(Bidirectional<LSTMCell>{with_biases(cell<LSTMCell>(1)), cell<LSTMCell>(2)},
                      {cell<LSTMCell>(3), cell<LSTMCell>(4)}, layout);
  }
}

TEST(ExportWeights, KeepsBothBiasesOfAGruWhereThereAreTwo) {
  for (const WeightLayout layout : {pytorch, keras, onnx}) expect_round_trip(with_biases(gru(1)), gru(2), layout);
  expect_round_trip(with_biases(gru(1, GRUForm::reset_before)), gru(2, GRUForm::reset_before), onnx);
}

TEST(ExportWeights, PutsABiasThatWasMergedIntoOneOfTheTwo) {
  const State weights = export_weights(with_biases(cell<OptimizedLSTMCell>()), pytorch);
  EXPECT_TRUE(identical(weights.at({"bias_ih"}).value(), zeros({12})));
  EXPECT_EQ(weights.at({"bias_hh"}).value().at<float>({1}), 1.75f);
}

TEST(ExportWeights, OfSeveralLayersMakesOnePyTorchModule) {
  std::vector<Bidirectional<LSTMCell>> layers;
  Rngs rngs(0);
  layers.push_back({LSTMCell{2, 3, rngs}, LSTMCell{2, 3, rngs}});
  layers.push_back({LSTMCell{6, 3, rngs}, LSTMCell{6, 3, rngs}});
  const State weights = export_weights(layers, pytorch);
  EXPECT_EQ(weights.size(), 16);
  EXPECT_EQ(weights.at({"weight_ih_l1_reverse"}).value().shape(), (Shape{12, 6}));
  auto expected = nn::state(layers);
  for (auto& layer : layers) {
    layer.forward_rnn.cell.ii.kernel.reset(zeros(layer.forward_rnn.cell.ii.kernel.value().shape()));
  }
  load_weights(std::tie(layers[0], layers[1]), weights, pytorch);
  EXPECT_EQ(nn::state(layers), expected);
}

// ---------------------------------------------------------------- refusals

template <class M>
void expect_refused(M& module, const State& weights, WeightLayout layout, const std::string& message,
                    const WeightOptions& options = {}) {
  const State before = nn::state(module);
  EXPECT_THAT([&] { load_weights(module, weights, layout, options); }, ThrowsMessage<StateError>(HasSubstr(message)));
  EXPECT_EQ(nn::state(module), before);
}

TEST(LoadWeights, ListsEverythingThatDoesNotFitAndChangesNothing) {
  State weights = with_prefix(lstm_of_pytorch(), {"lstm"});
  weights.erase({"lstm", "weight_hh_l0"});
  weights.set({"lstm", "weight_ih_l1"}, Variable(ones({12, 3})));
  weights.set({"lstm", "weight_ih_l0"}, Variable(ones({9, 2})));
  RNN<LSTMCell> layer(cell<LSTMCell>());
  expect_refused(
      layer, weights, pytorch,
      "[load_weights] the weights do not fit LSTMCell with 2 inputs and hidden size 3 in the layout of PyTorch. "
      "Missing: lstm/weight_hh_l0. Unused: lstm/weight_ih_l1. Different: lstm/weight_ih_l0 (expected "
      "float32[12, 2]: gates i, f, g, o, got float32[9, 2]). Nothing was changed.",
      {.prefix = "lstm"});
}

TEST(LoadWeights, AMissingDirectionIsNamed) {
  Bidirectional<LSTMCell> layer{cell<LSTMCell>(), cell<LSTMCell>()};
  expect_refused(layer, lstm_of_pytorch(), pytorch, "Missing: weight_ih_l0_reverse, weight_hh_l0_reverse");
}

TEST(LoadWeights, OtherElementTypesAreTakenOnlyWhenAsked) {
  LSTMCell lstm = cell<LSTMCell>();
  State weights = lstm_of_pytorch();
  weights.set({"bias_ih_l0"}, Variable(counting(200, {12}).astype(DType::float64)));
  expect_refused(lstm, weights, pytorch, "Different: bias_ih_l0 (expected float32[12]");
  load_weights(lstm, weights, pytorch, {.cast = true});
  EXPECT_TRUE(identical(*lstm.hg.bias, tensor({1212.0f, 1214.0f, 1216.0f})));
  weights.set({"bias_ih_l0"}, Variable(ones({12}, DType::int32)));
  expect_refused(lstm, weights, pytorch, "got int32[12]", {.cast = true});
}

TEST(LoadWeights, AHiddenBiasOfNIsNotLost) {
  const State weights = export_weights(with_biases(gru(1)), pytorch);
  GRUCell cell = gru(0, GRUForm::reset_after, false);
  expect_refused(cell, weights, pytorch,
                 "the hidden bias of n, which the reset gate scales: this GRUCell has no place");
}

TEST(LoadWeights, AHiddenBiasOfNThatIsZeroNeedsNoPlace) {
  GRUCell source = with_biases(gru(1));
  source.dense_h.bias->reset(tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 0.0f, -0.0f, 0.0f}));
  GRUCell cell = gru(0, GRUForm::reset_after, false);
  load_weights(cell, export_weights(source, pytorch), pytorch);
  EXPECT_TRUE(identical(*cell.dense_i.bias, *source.dense_i.bias + *source.dense_h.bias));
}

TEST(LoadWeights, BiasesThatAreAlwaysSummedNeedOnePlaceInTheOtherForm) {
  const GRUCell source = with_biases(gru(1, GRUForm::reset_before));
  GRUCell cell = gru(0, GRUForm::reset_before, false);
  load_weights(cell, export_weights(source, onnx), onnx);
  EXPECT_TRUE(identical(*cell.dense_i.bias, *source.dense_i.bias + *source.dense_h.bias));
}

TEST(LoadWeights, TheFormOfAGruMustBeTheCells) {
  GRUCell before = gru(0, GRUForm::reset_before);
  GRUCell after = gru(0);
  expect_refused(before, export_weights(after, pytorch), pytorch,
                 "Refused: this GRUCell has GRUForm::reset_before, and the GRU of PyTorch GRUForm::reset_after.");
  expect_refused(after, export_weights(before, keras), keras, "and the GRU of Keras GRUForm::reset_before");
  State weights = export_weights(after, onnx);
  expect_refused(before, weights, onnx, "and the GRU of ONNX GRUForm::reset_after");
  weights.erase({"linear_before_reset"});
  expect_refused(after, weights, onnx, "and the GRU of ONNX GRUForm::reset_before");
  load_weights(after, weights, onnx, {.gru_form = GRUForm::reset_after});
}

TEST(LoadWeights, AFormThatContradictsTheWeightsIsRefused) {
  GRUCell cell = gru(0);
  expect_refused(cell, export_weights(cell, keras), keras,
                 "gru_form reset_before, where the rank of the bias says reset_after",
                 {.gru_form = GRUForm::reset_before});
}

TEST(LoadWeights, ProjectionsPeepholesAndTheLikeAreRefusedByName) {
  LSTMCell lstm = cell<LSTMCell>();
  State projected = lstm_of_pytorch();
  projected.set({"weight_hr_l0"}, Variable(ones({2, 3})));
  expect_refused(lstm, projected, pytorch, "weight_hr_l0 (a projection of the state, proj_size");
  const State weights = export_weights(lstm, onnx);
  for (const auto& [name, what] :
       {std::pair{"P", "P (peepholes, which LSTMCell does not have: take a PeepholeLSTMCell)"},
        std::pair{"clip", "clip (a bound of the gates"},
        std::pair{"input_forget", "input_forget (input and forget gates made one"}}) {
    State with = weights;
    with.set({name}, Variable(ones({1})));
    expect_refused(lstm, with, onnx, what);
  }
}

TEST(LoadWeights, FunctionsThatPyTorchDoesNotHaveAreRefused) {
  LSTMCell hard = cell<LSTMCell>(0, LSTMOptions{.gate = nn::hard_sigmoid});
  expect_refused(hard, lstm_of_pytorch(), pytorch, "this LSTMCell has activations that no layer of PyTorch has");
  SimpleCell residual = cell<SimpleCell>(0, SimpleCellOptions{.residual = true});
  EXPECT_THAT([&] { (void)export_weights(residual, keras); },
              ThrowsMessage<StateError>("[export_weights] this SimpleCell is residual, and no layer of Keras is."));
}

TEST(LoadWeights, AResidualStackIsNoLayerOfPyTorch) {
  Rngs rngs(0);
  Stacked<RNN<GRUCell>> stack({RNN(gru(1)), RNN(GRUCell(hidden, hidden, rngs, {.recurrent_bias = true}))},
                              nn::Dropout(0), {.residual = true});
  EXPECT_THAT([&] { (void)export_weights(stack, pytorch); },
              ThrowsMessage<StateError>("[export_weights] this Stacked is residual, and no layer of PyTorch is. "
                                        "Exchange its `layers`."));
  const State weights = export_weights(stack.layers, pytorch);
  EXPECT_EQ(weights.size(), 8);
  expect_refused(stack, weights, pytorch, "this Stacked is residual");
}

// Dropout leaves the weights alone, wherever it stands; the names are those of what is around it.
TEST(LoadWeights, ACellMayStandInARecurrentDropout) {
  Rngs rngs(7);
  const auto dropped = [&](int seed) {
    return RecurrentDropout(with_biases(cell<LSTMCell>(seed)), {.recurrent = 0.5}, rngs);
  };
  const RNN source(dropped(1));
  const State weights = export_weights(source, pytorch);
  EXPECT_EQ(weights, export_weights(RNN(source.cell.cell), pytorch));
  EXPECT_EQ(export_weights(source.cell, pytorch), export_weights(source.cell.cell, pytorch));
  RNN target(dropped(2));
  load_weights(target, weights, pytorch);
  EXPECT_EQ(export_weights(target, pytorch), weights);
  Bidirectional both(dropped(3), dropped(4));
  load_weights(both, export_weights(Bidirectional(cell<LSTMCell>(5), cell<LSTMCell>(6)), keras), keras);
  EXPECT_TRUE(identical(both.backward_cell().cell.ii.kernel, cell<LSTMCell>(6).ii.kernel));
}

TEST(LoadWeights, OnlyPyTorchHasSeveralLayersInOneModule) {
  std::vector<RNN<LSTMCell>> layers(2, RNN<LSTMCell>(cell<LSTMCell>()));
  EXPECT_THROW(load_weights(layers, State(), keras), ValueError);
  layers.clear();
  EXPECT_THROW(load_weights(layers, State(), pytorch), ValueError);
}

TEST(ExportWeights, NnxHasNoPlaceForTheHiddenBiasOfN) {
  EXPECT_THAT([] { (void)export_weights(with_biases(gru(1)), flax_nnx); },
              ThrowsMessage<StateError>(HasSubstr("no place for it. Take WeightLayout::flax_linen.")));
}

TEST(ExportWeights, TheFormOfAGruMustBeTheLibrarys) {
  EXPECT_THAT(
      [] { (void)export_weights(gru(1, GRUForm::reset_before), pytorch); },
      ThrowsMessage<StateError>(
          "[export_weights] this GRUCell has GRUForm::reset_before, and the GRU of PyTorch GRUForm::reset_after."));
}

// A projection goes to the cell that has one, and comes back; no other library has a layer like it.
TEST(LoadWeights, AProjectionIsReadAndWrittenAsPyTorchHasIt) {
  Rngs rngs(0);
  Stacked<RNN<ProjectedLSTMCell>> stack({RNN(ProjectedLSTMCell(3, 5, 2, rngs)), RNN(ProjectedLSTMCell(2, 5, 2, rngs))});
  const State exported = export_weights(stack, pytorch);
  EXPECT_EQ(exported.at({"weight_hr_l1"}).value().shape(), (Shape{2, 5}));
  EXPECT_EQ(exported.at({"weight_hh_l0"}).value().shape(), (Shape{20, 2}));
  Stacked<RNN<ProjectedLSTMCell>> other({RNN(ProjectedLSTMCell(3, 5, 2, rngs)), RNN(ProjectedLSTMCell(2, 5, 2, rngs))});
  load_weights(other, exported, pytorch);
  EXPECT_EQ(export_weights(other, pytorch), exported);
  State without = exported;
  without.erase({"weight_hr_l1"});
  EXPECT_THROW(load_weights(other, without, pytorch), StateError);
  EXPECT_THROW(static_cast<void>(export_weights(stack.layers[0], keras)), StateError);
  for (const WeightLayout layout : {keras, onnx, flax_linen, flax_nnx}) {
    const State weights = export_weights(RNN(OptimizedLSTMCell(3, 5, rngs)), layout);
    expect_refused(stack.layers[0], weights, layout, "this ProjectedLSTMCell has a projection, and no layer of");
  }
}

PeepholeLSTMCell peephole_cell(int seed) {
  return cell<PeepholeLSTMCell>(seed, PeepholeLSTMOptions{.peephole_init = nn::initializers::normal(1.0)});
}

TEST(LoadWeights, PeepholesOfOnnxAreInTheOrderInputOutputForgetForEachDirection) {
  Bidirectional layer(peephole_cell(1), peephole_cell(2));
  State weights = export_weights(Bidirectional(cell<LSTMCell>(3), cell<LSTMCell>(4)), onnx);
  weights.set({"P"}, Variable(counting(0, {2, 9})));
  load_weights(layer, weights, onnx);
  const PeepholeLSTMCell& forward = layer.forward_cell();
  EXPECT_TRUE(identical(forward.ci, tensor({0.0f, 1.0f, 2.0f})));
  EXPECT_TRUE(identical(forward.co, tensor({3.0f, 4.0f, 5.0f})));
  EXPECT_TRUE(identical(forward.cf, tensor({6.0f, 7.0f, 8.0f})));
  EXPECT_TRUE(identical(layer.backward_cell().co, tensor({12.0f, 13.0f, 14.0f})));
  EXPECT_TRUE(identical(export_weights(layer, onnx).at({"P"}).value(), counting(0, {2, 9})));
}

TEST(ExportWeights, OfPeepholesIsTheInverseOfLoading) {
  expect_round_trip(with_biases(peephole_cell(1)), peephole_cell(2), onnx);
  expect_round_trip(Bidirectional(peephole_cell(1), peephole_cell(2)),
                    Bidirectional(peephole_cell(3), peephole_cell(4)), onnx);
}

// As its B, which is zero where it is left out.
TEST(LoadWeights, PeepholesThatOnnxLeavesOutAreZero) {
  PeepholeLSTMCell target = peephole_cell(1);
  load_weights(target, export_weights(cell<LSTMCell>(2), onnx), onnx);
  for (const Param* peephole : {&target.ci, &target.cf, &target.co}) EXPECT_TRUE(identical(*peephole, zeros({3})));
}

TEST(LoadWeights, PeepholesOfAnotherShapeAreNamed) {
  PeepholeLSTMCell target = peephole_cell(1);
  State weights = export_weights(target, onnx);
  weights.set({"P"}, Variable(ones({9})));
  expect_refused(target, weights, onnx, "Different: P (expected float32[1, 9]: gates i, o, f, got float32[9])");
}

TEST(LoadWeights, OnlyOnnxHasPeepholes) {
  PeepholeLSTMCell target = peephole_cell(1);
  for (const WeightLayout layout : {pytorch, keras, flax_linen, flax_nnx}) {
    const std::string message = "this PeepholeLSTMCell has peepholes, and no layer of ";
    expect_refused(target, export_weights(cell<OptimizedLSTMCell>(2), layout), layout, message);
    EXPECT_THAT([&] { (void)export_weights(target, layout); }, ThrowsMessage<StateError>(HasSubstr(message)));
  }
}

TEST(LoadWeights, AnOperatorOfOnnxHasCellsOfOneKind) {
  const auto expect_none = [](auto layer) {
    const State weights = export_weights(Bidirectional(cell<LSTMCell>(1), cell<LSTMCell>(2)), onnx);
    expect_refused(layer, weights, onnx, "cells of two kinds or sizes");
    EXPECT_THROW((void)export_weights(layer, onnx), StateError);
  };
  expect_none(Bidirectional(cell<LSTMCell>(), peephole_cell(1)));
  expect_none(Bidirectional(peephole_cell(1), cell<LSTMCell>()));
  expect_none(Bidirectional(cell<LSTMCell>(), gru(0)));
}

}  // namespace
}  // namespace strata::recurrent
