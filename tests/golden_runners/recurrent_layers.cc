// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/recurrent_layers.h"

#include "golden_runners/conv_parse.h"
#include "strata/nn/activations.h"
#include "strata/nn/split.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/conv_lstm_cell.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/mgu_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/create.h"
#include "support/golden_runner.h"

namespace strata::golden {
namespace {

using support::Json;
using support::Skip;
namespace rnn = strata::recurrent;

Tensor identity(const Tensor& x) { return x; }
Tensor elu(const Tensor& x) { return nn::elu(x); }
Tensor add(const Tensor& a, const Tensor& b) { return a + b; }
Tensor multiply(const Tensor& a, const Tensor& b) { return a * b; }
Tensor average(const Tensor& a, const Tensor& b) { return (a + b) / 2.0; }
Tensor larger(const Tensor& a, const Tensor& b) { return maximum(a, b); }
Tensor only_forward(const Tensor& a, const Tensor&) { return a; }

rnn::Activation parse_activation(const Json& cell, const char* name, rnn::Activation standard) {
  if (!cell.contains(name)) return standard;
  static const std::map<std::string, rnn::Activation> known{
      {"sigmoid", sigmoid},        {"tanh", strata::tanh},       {"relu", relu}, {"hard_sigmoid", nn::hard_sigmoid},
      {"softsign", nn::soft_sign}, {"soft_sign", nn::soft_sign}, {"elu", elu},   {"identity", identity}};
  const std::string function = cell.at(name);
  if (!known.contains(function)) throw Skip("activation " + function);
  return known.at(function);
}

rnn::MergeFunction parse_merge(const Json& layer) {
  const std::string merge = layer.contains("merge") && !layer.at("merge").is_null() ? layer.at("merge") : "concat";
  static const std::map<std::string, rnn::MergeFunction> known{{"concat", rnn::concatenate_features},
                                                               {"sum", add},
                                                               {"mul", multiply},
                                                               {"ave", average},
                                                               {"max", larger},
                                                               {"forward", only_forward}};
  return known.at(merge);
}

std::optional<DType> parse_dtype(const Json& cell) {
  if (!cell.contains("dtype")) return std::nullopt;
  return dtype_from_name(cell.at("dtype").get<std::string>());
}

// ---------------------------------------------------------------- cells

template <class C>
constexpr bool is_conv = false;
template <int SpatialAxes>
constexpr bool is_conv<rnn::ConvLSTMCell<SpatialAxes>> = true;

template <class C>
C make_conv_cell(const Json& cell, Index in, DType dtype) {
  Rngs rngs(0);
  rnn::ConvLSTMOptions options{
      .use_bias = cell.value("use_bias", true), .dtype = parse_dtype(cell), .param_dtype = dtype};
  if (cell.contains("padding")) options.padding = parse_padding(cell.at("padding"));
  return {in, cell.at("features").get<Index>(), cell.at("kernel_size").get<typename C::KernelSize>(), rngs, options};
}

template <class C>
C make_cell(const Json& cell, Index in, DType dtype) {
  if constexpr (is_conv<C>) {
    return make_conv_cell<C>(cell, in, dtype);
  } else {
    Rngs rngs(0);
    return {in,
            cell.at("features").get<Index>(),
            rngs,
            {.gate = parse_activation(cell, "gate", sigmoid),
             .activation = parse_activation(cell, "activation", strata::tanh),
             .dtype = parse_dtype(cell),
             .param_dtype = dtype}};
  }
}

template <>
rnn::GRUCell make_cell<rnn::GRUCell>(const Json& cell, Index in, DType dtype) {
  Rngs rngs(0);
  return {in,
          cell.at("features").get<Index>(),
          rngs,
          {.recurrent_bias = true,
           .gate = parse_activation(cell, "gate", sigmoid),
           .activation = parse_activation(cell, "activation", strata::tanh),
           .dtype = parse_dtype(cell),
           .param_dtype = dtype}};
}

template <>
rnn::SimpleCell make_cell<rnn::SimpleCell>(const Json& cell, Index in, DType dtype) {
  Rngs rngs(0);
  return {in,
          cell.at("features").get<Index>(),
          rngs,
          {.activation = parse_activation(cell, "activation", strata::tanh),
           .residual = cell.value("residual", false),
           .dtype = parse_dtype(cell),
           .param_dtype = dtype}};
}

template <>
rnn::MGUCell make_cell<rnn::MGUCell>(const Json& cell, Index in, DType dtype) {
  Rngs rngs(0);
  return {in,
          cell.at("features").get<Index>(),
          rngs,
          {.reset_gate = cell.value("reset_gate", true),
           .gate = parse_activation(cell, "gate", sigmoid),
           .activation = parse_activation(cell, "activation", strata::tanh),
           .dtype = parse_dtype(cell),
           .param_dtype = dtype}};
}

// Weights of the linen cells, by their names there; those of the nnx cells and of ConvLSTMCell have our own paths.
template <class C>
std::vector<WeightPlace> linen_places();

template <>
std::vector<WeightPlace> linen_places<rnn::LSTMCell>() {
  std::vector<WeightPlace> places;
  for (const char* gate : {"i", "f", "g", "o"}) {
    const std::string input = std::string("i") + gate;
    const std::string hidden = std::string("h") + gate;
    places.push_back({input + "/kernel", {input == "if" ? "if_" : input, "kernel"}});
    places.push_back({hidden + "/kernel", {hidden, "kernel"}});
    places.push_back({hidden + "/bias", {hidden, "bias"}});
  }
  return places;
}

void add_gates(std::vector<WeightPlace>& places, const std::string& prefix, const std::string& gates,
               const Path& path) {
  const Index count = static_cast<Index>(gates.size());
  for (Index g = 0; g < count; ++g) {
    places.push_back({prefix + gates[static_cast<std::size_t>(g)] + "/" + path[1].text(), path, g, count});
  }
}

template <>
std::vector<WeightPlace> linen_places<rnn::OptimizedLSTMCell>() {
  std::vector<WeightPlace> places;
  add_gates(places, "i", "ifgo", {"dense_i", "kernel"});
  add_gates(places, "h", "ifgo", {"dense_h", "kernel"});
  add_gates(places, "h", "ifgo", {"dense_h", "bias"});
  return places;
}

template <>
std::vector<WeightPlace> linen_places<rnn::GRUCell>() {
  std::vector<WeightPlace> places;
  add_gates(places, "i", "rzn", {"dense_i", "kernel"});
  add_gates(places, "i", "rzn", {"dense_i", "bias"});
  add_gates(places, "h", "rzn", {"dense_h", "kernel"});
  places.push_back({"hn/bias", {"dense_h", "bias"}, 2, 3});
  return places;
}

template <>
std::vector<WeightPlace> linen_places<rnn::SimpleCell>() {
  return {{"i/kernel", {"dense_i", "kernel"}}, {"i/bias", {"dense_i", "bias"}}, {"h/kernel", {"dense_h", "kernel"}}};
}

template <>
std::vector<WeightPlace> linen_places<rnn::MGUCell>() {
  return {{"if/kernel", {"if_", "kernel"}}, {"if/bias", {"if_", "bias"}},    {"in/kernel", {"in", "kernel"}},
          {"in/bias", {"in", "bias"}},      {"hf/kernel", {"hf", "kernel"}}, {"hn/kernel", {"hn", "kernel"}},
          {"hn/bias", {"hn", "bias"}}};
}

// ---------------------------------------------------------------- weights

// Puts an array into its columns of a cell's variable.
template <class C>
void place(C& cell, const WeightPlace& where, const Tensor& value) {
  State state = nn::state(cell);
  Variable& variable = state.at(where.path);
  Tensor whole = variable.value();
  const Index width = whole.size(-1) / where.gates;
  const Index rows = whole.size() / whole.size(-1);
  dispatch(whole.dtype(), [&]<class T>(T) {
    const Tensor converted = value.astype(whole.dtype());
    const auto from = converted.template data<T>();
    const auto to = whole.template mutable_data<T>();
    for (Index row = 0; row < rows; ++row) {
      std::copy_n(from.begin() + row * width, width, to.begin() + row * width * where.gates + where.gate * width);
    }
  });
  variable.reset(whole);
  nn::update(cell, state);
}

template <class C>
std::vector<WeightPlace> places_of(const C& cell, bool linen) {
  if constexpr (!is_conv<C>) {
    if (linen) return linen_places<C>();
  }
  std::vector<WeightPlace> places;
  for (const auto& [path, variable] : nn::state(cell)) places.push_back({to_string(path), path});
  return places;
}

template <class C>
void set_cell(C& cell, bool linen, const Arrays& params, const std::string& prefix) {
  State zero = nn::state(cell);
  for (const auto& [path, variable] : nn::state(cell)) zero.at(path).reset(zeros_like(variable.value()));
  nn::update(cell, zero);
  for (const WeightPlace& where : places_of(cell, linen)) {
    const auto found = params.find(prefix + where.name);
    if (found != params.end()) place(cell, where, found->second);
  }
}

template <class C>
void rename_cell(const C& cell, bool linen, const State& gradients, const Path& our_prefix, const std::string& prefix,
                 Arrays& out) {
  for (const WeightPlace& where : places_of(cell, linen)) {
    const Variable* gradient = gradients.find(our_prefix / where.path);
    if (gradient == nullptr) continue;
    const Index width = gradient->value().size(-1) / where.gates;
    const Tensor part = slice_axis(gradient->value(), -1, where.gate * width, (where.gate + 1) * width);
    const auto [entry, added] = out.emplace(prefix + where.name, part);
    if (!added) entry->second = entry->second + part;
  }
}

// ---------------------------------------------------------------- carries

template <class Carry>
Arrays carry_arrays(const Carry& carry, const std::string& prefix) {
  Arrays arrays;
  rnn::internal::for_each_tensor(
      [&](const std::string& name, const Tensor& value) { arrays.emplace(prefix + name, value); }, "", carry);
  return arrays;
}

template <class Carry>
std::optional<Carry> parse_carry(const Arrays& arrays, const std::string& prefix) {
  if (arrays.empty()) return std::nullopt;
  Carry carry;
  rnn::internal::for_each_tensor([&](const std::string& name, Tensor& value) { value = arrays.at(prefix + name); }, "",
                                 carry);
  return carry;
}

// What a call asks for: options of the layer, replaced by those of the call.
bool option(const Json& entry, const Json& layer, const char* name) {
  if (entry.contains("call") && entry.at("call").contains(name)) return entry.at("call").at(name);
  return layer.value(name, false);
}

template <class C>
std::optional<typename C::Carry> starting_carry(const C& cell, const Json& layer, const Arrays& given,
                                                const std::string& prefix, const Shape& step) {
  auto carry = parse_carry<typename C::Carry>(given, prefix);
  if (carry || layer.at("cell").value("carry_init", "") != "ones") return carry;
  carry = cell.initial_carry(step);
  rnn::internal::for_each_tensor([](const std::string&, Tensor& value) { value = ones_like(value); }, "", *carry);
  return carry;
}

// ---------------------------------------------------------------- layers

template <class C>
class StepLayer final : public Layer {
 public:
  StepLayer(const Json& entry, const Json& layer, Index in, DType dtype)
      : linen_(entry.at("source") == "flax.linen"), layer_(layer), cell_(make_cell<C>(layer.at("cell"), in, dtype)) {}

  void set_params(const Arrays& params) override { set_cell(cell_, linen_, params, ""); }
  Arrays rename(const State& gradients) const override {
    Arrays out;
    rename_cell(cell_, linen_, gradients, {}, "", out);
    return out;
  }
  std::vector<internal::Leaf> leaves() override { return internal::collect_leaves(internal::node_of(cell_)); }
  LayerOutput run(const LayerInput& input) override {
    auto carry = starting_carry(cell_, layer_, input.carry, "", input.x.shape());
    auto step = cell_(carry ? *carry : cell_.initial_carry(input.x.shape()), input.x);
    return {step.y, carry_arrays(step.carry, "")};
  }

 private:
  bool linen_;
  Json layer_;
  C cell_;
};

template <class C>
class RNNLayer final : public Layer {
 public:
  RNNLayer(const Json& entry, const Json& layer, Index in, DType dtype)
      : linen_(entry.at("source") == "flax.linen"),
        entry_(entry),
        layer_(layer),
        rnn_(make_cell<C>(layer.at("cell"), in, dtype)) {}

  void set_params(const Arrays& params) override { set_cell(rnn_.cell, linen_, params, "cell/"); }
  Arrays rename(const State& gradients) const override {
    Arrays out;
    rename_cell(rnn_.cell, linen_, gradients, {"cell"}, "cell/", out);
    return out;
  }
  std::vector<internal::Leaf> leaves() override { return internal::collect_leaves(internal::node_of(rnn_)); }
  LayerOutput run(const LayerInput& input) override {
    const bool time_major = option(entry_, layer_, "time_major");
    const Shape step = rnn::internal::sequence_axes(input.x, C::num_feature_axes, time_major).step;
    const auto result = rnn_.scan(input.x, {.seq_lengths = input.lengths,
                                            .initial_carry = starting_carry(rnn_.cell, layer_, input.carry, "", step),
                                            .time_major = time_major,
                                            .reverse = option(entry_, layer_, "reverse"),
                                            .keep_order = option(entry_, layer_, "keep_order")});
    return {result.y, carry_arrays(result.carry, "")};
  }

 private:
  bool linen_;
  Json entry_;
  Json layer_;
  rnn::RNN<C> rnn_;
};

template <class F, class B>
class BidirectionalLayer final : public Layer {
 public:
  BidirectionalLayer(const Json& entry, const Json& layer, Index in, DType dtype)
      : linen_(entry.at("source") == "flax.linen"),
        shared_(layer.contains("shared") && layer.at("shared") == true),
        entry_(entry),
        layer_(layer),
        bidirectional_(make_cell<F>(layer.at("forward").at("cell"), in, dtype),
                       make_cell<B>(layer.at("backward").at("cell"), in, dtype), {.merge = parse_merge(layer)}) {}

  void set_params(const Arrays& params) override {
    set_cell(bidirectional_.forward_rnn.cell, linen_, params, "forward_rnn/cell/");
    set_cell(bidirectional_.backward_rnn.cell, linen_, params, backward_prefix());
  }
  Arrays rename(const State& gradients) const override {
    Arrays out;
    rename_cell(bidirectional_.forward_cell(), linen_, gradients, {"forward_rnn", "cell"}, "forward_rnn/cell/", out);
    rename_cell(bidirectional_.backward_cell(), linen_, gradients, {"backward_rnn", "cell"}, backward_prefix(), out);
    return out;
  }
  std::vector<internal::Leaf> leaves() override { return internal::collect_leaves(internal::node_of(bidirectional_)); }
  LayerOutput run(const LayerInput& input) override {
    const bool time_major = option(entry_, layer_, "time_major");
    const Shape step = rnn::internal::sequence_axes(input.x, F::num_feature_axes, time_major).step;
    const auto result = bidirectional_.scan(
        input.x, {.seq_lengths = input.lengths,
                  .initial_forward_carry =
                      starting_carry(bidirectional_.forward_cell(), layer_.at("forward"), input.carry, "fwd/", step),
                  .initial_backward_carry =
                      starting_carry(bidirectional_.backward_cell(), layer_.at("backward"), input.carry, "bwd/", step),
                  .time_major = time_major});
    LayerOutput output{result.y, carry_arrays(result.carry.forward, "fwd/")};
    output.carry.merge(carry_arrays(result.carry.backward, "bwd/"));
    return output;
  }

 private:
  [[nodiscard]] std::string backward_prefix() const { return shared_ ? "forward_rnn/cell/" : "backward_rnn/cell/"; }

  bool linen_;
  bool shared_;
  Json entry_;
  Json layer_;
  rnn::Bidirectional<F, B> bidirectional_;
};

std::string cell_type(const Json& layer) { return layer.at("cell").at("type"); }

template <template <class> class L>
std::unique_ptr<Layer> make_single(const Json& entry, const Json& layer, Index in, DType dtype) {
  const std::string type = cell_type(layer);
  if (type == "LSTMCell") return std::make_unique<L<rnn::LSTMCell>>(entry, layer, in, dtype);
  if (type == "OptimizedLSTMCell") return std::make_unique<L<rnn::OptimizedLSTMCell>>(entry, layer, in, dtype);
  if (type == "GRUCell") return std::make_unique<L<rnn::GRUCell>>(entry, layer, in, dtype);
  if (type == "SimpleCell") return std::make_unique<L<rnn::SimpleCell>>(entry, layer, in, dtype);
  if (type == "MGUCell") return std::make_unique<L<rnn::MGUCell>>(entry, layer, in, dtype);
  if (type == "ConvLSTMCell") {
    const std::size_t spatial_axes = layer.at("cell").at("kernel_size").size();
    if (spatial_axes == 1) return std::make_unique<L<rnn::ConvLSTMCell<1>>>(entry, layer, in, dtype);
    if (spatial_axes == 2) return std::make_unique<L<rnn::ConvLSTMCell<2>>>(entry, layer, in, dtype);
    return std::make_unique<L<rnn::ConvLSTMCell<3>>>(entry, layer, in, dtype);
  }
  throw Skip("cell " + type);
}

template <class F>
std::unique_ptr<Layer> make_pair_with(const Json& entry, const Json& layer, Index in, DType dtype) {
  const std::string backward = cell_type(layer.at("backward"));
  if (backward == "LSTMCell") return std::make_unique<BidirectionalLayer<F, rnn::LSTMCell>>(entry, layer, in, dtype);
  if (backward == "GRUCell") return std::make_unique<BidirectionalLayer<F, rnn::GRUCell>>(entry, layer, in, dtype);
  if (backward == "SimpleCell")
    return std::make_unique<BidirectionalLayer<F, rnn::SimpleCell>>(entry, layer, in, dtype);
  if (backward == "OptimizedLSTMCell") {
    return std::make_unique<BidirectionalLayer<F, rnn::OptimizedLSTMCell>>(entry, layer, in, dtype);
  }
  throw Skip("cell " + backward);
}

}  // namespace

std::unique_ptr<Layer> make_layer(const Json& entry, const Json& layer, Index in_features, DType dtype) {
  const std::string kind = layer.at("kind");
  if (kind == "cell") return make_single<StepLayer>(entry, layer, in_features, dtype);
  if (kind == "rnn") return make_single<RNNLayer>(entry, layer, in_features, dtype);
  if (kind != "bidirectional") throw Skip("layer " + kind);
  const std::string forward = cell_type(layer.at("forward"));
  if (forward == "LSTMCell") return make_pair_with<rnn::LSTMCell>(entry, layer, in_features, dtype);
  if (forward == "OptimizedLSTMCell") return make_pair_with<rnn::OptimizedLSTMCell>(entry, layer, in_features, dtype);
  if (forward == "GRUCell") return make_pair_with<rnn::GRUCell>(entry, layer, in_features, dtype);
  if (forward == "SimpleCell") return make_pair_with<rnn::SimpleCell>(entry, layer, in_features, dtype);
  if (forward == "ConvLSTMCell") {
    using Cell = rnn::ConvLSTMCell<1>;
    return std::make_unique<BidirectionalLayer<Cell, Cell>>(entry, layer, in_features, dtype);
  }
  throw Skip("cell " + forward);
}

}  // namespace strata::golden
