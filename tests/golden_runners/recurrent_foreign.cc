// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/recurrent_foreign.h"

#include <algorithm>
#include <utility>

#include "golden_runners/recurrent_networks.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "support/golden_runner.h"

namespace strata::golden {
namespace {

using support::Json;
using support::require;
using support::require_close;
using support::Skip;
using support::within_scaled;
namespace rnn = strata::recurrent;

// Of |a - b| / (1 + |b|): what the references themselves keep to.
constexpr double float32_value = 2e-6;
constexpr double float64_value = 1e-12;
constexpr double float32_gradient = 1e-5;
constexpr double float64_gradient = 1e-9;

const Tensor* find(const Arrays& arrays, const std::string& role) {
  const auto found = arrays.find(role);
  return found == arrays.end() ? nullptr : &found->second;
}

const Tensor& at(const Arrays& arrays, const std::string& role) {
  const Tensor* found = find(arrays, role);
  require(found != nullptr, "the file lacks " + role);
  return *found;
}

// The arrays below a role as a state, as a reader of files gives them.
State below(const Arrays& arrays, const std::string& role) {
  State state;
  for (const auto& [name, value] : arrays) {
    if (name.starts_with(role)) state.set(Path::parse(name.substr(role.size())), Variable(value));
  }
  return state;
}

// ---------------------------------------------------------------- PyTorch

Setting pytorch_setting(const Json& entry) {
  const bool unbatched = entry.at("shape").size() == 1;
  return {.layout = rnn::WeightLayout::pytorch,
          .kind = entry.at("cls"),
          .in = entry.at("input_size"),
          .hidden = entry.at("hidden_size"),
          .projection = entry.value("proj_size", Index{0}),
          .layers = entry.value("num_layers", 1),
          .bidirectional = entry.value("bidirectional", false),
          .relu = entry.value("nonlinearity", "tanh") == "relu",
          .rnn = {.time_major = !entry.value("batch_first", false) && !unbatched,
                  .padding_output = rnn::PaddingOutput::zero}};
}

template <class C>
class PyTorchCase {
 public:
  PyTorchCase(const Json& entry, const Arrays& arrays, DType dtype)
      : arrays_(arrays),
        setting_(pytorch_setting(entry)),
        dtype_(dtype),
        network_(loaded<C>(setting_, below(arrays, "params/"), dtype)),
        wide_(dtype == DType::float64),
        reference_(wide_ ? "ref64/" : "") {}

  void check_values() {
    const Result result = network_.run(at(arrays_, "x").astype(dtype_), lengths(), initial());
    const double bound = wide_ ? float64_value : float32_value;
    require_close(as_long_as(at(arrays_, reference_ + "y"), result.y), at(arrays_, reference_ + "y"),
                  within_scaled(bound), reference_ + "y");
    require_close(*result.states.h, at(arrays_, reference_ + "h_n"), within_scaled(bound), reference_ + "h_n");
    if (result.states.c) {
      require_close(*result.states.c, at(arrays_, reference_ + "c_n"), within_scaled(bound), reference_ + "c_n");
    }
  }

  // The weights converted to linen's names by the generator.
  void check_mapped() const {
    for (const auto& [name, expected] : arrays_) {
      if (!name.starts_with("mapped/")) continue;
      const Path path = Path::parse(name);  // mapped/<layer>/<fwd or bwd>/<path in linen>
      const State linen =
          network_.exported_cell(path[1].integer(), path[2] == Key("bwd"), rnn::WeightLayout::flax_linen);
      require_close(linen.at(Path(std::vector<Key>(path.begin() + 3, path.end()))), expected, support::exactly, name);
    }
  }

  void check_gradients() {
    GradientTape tape;
    std::vector<Tensor> sources;
    const auto watch = [&](const Tensor& value) { return sources.emplace_back(tape.watch(value)); };
    const Tensor x = watch(at(arrays_, "x").astype(dtype_));
    States start = initial();
    if (start.h) start.h = watch(*start.h);
    if (start.c) start.c = watch(*start.c);
    const std::size_t num_inputs = sources.size();
    for (const internal::Leaf& leaf : network_.leaves()) leaf.variable->reset(watch(leaf.variable->value()));
    const Result result = network_.run(x, lengths(), start);
    Tensor loss = sum(as_long_as(at(arrays_, "ct/y"), result.y) * at(arrays_, "ct/y").astype(dtype_)) +
                  sum(*result.states.h * at(arrays_, "ct/h_n").astype(dtype_));
    if (result.states.c) loss = loss + sum(*result.states.c * at(arrays_, "ct/c_n").astype(dtype_));
    const std::vector<Tensor> gradients = tape.gradient(loss, sources);
    const char* const names[] = {"x", "h0", "c0"};
    for (std::size_t i = 0; i < num_inputs; ++i) check_gradient(names[i], gradients[i]);
    std::size_t next = num_inputs;
    for (const internal::Leaf& leaf : network_.leaves()) leaf.variable->reset(gradients[next++]);
    check_parameter_gradients();
  }

 private:
  [[nodiscard]] std::optional<Tensor> lengths() const {
    const Tensor* given = find(arrays_, "lengths");
    return given == nullptr ? std::nullopt : std::optional(*given);
  }

  // PyTorch unpacks to the longest sequence unless told otherwise.
  [[nodiscard]] Tensor as_long_as(const Tensor& expected, const Tensor& y) const {
    const int time_axis = setting_.rnn.time_major ? 0 : y.rank() - 2;
    return slice_axis(y, time_axis, 0, expected.size(time_axis));
  }

  [[nodiscard]] States initial() const {
    States states;
    if (const Tensor* h = find(arrays_, "h0")) states.h = h->astype(dtype_);
    if (const Tensor* c = find(arrays_, "c0")) states.c = c->astype(dtype_);
    return states;
  }

  void check_gradient(const std::string& name, const Tensor& actual) const {
    const std::string role = (wide_ ? "grad64/" : "grad/") + name;
    require_close(actual, at(arrays_, role), within_scaled(wide_ ? float64_gradient : float32_gradient), role);
  }

  // The network holds its own gradients now, which leave it under PyTorch's names. Two biases that are one here have
  // the gradient of the one.
  void check_parameter_gradients() const {
    const State exported = network_.exported();
    for (const auto& [path, variable] : exported) {
      const std::string name = to_string(path);
      const bool merged = setting_.kind != "GRU" && name.starts_with("bias_");
      if (find(arrays_, "grad/params/" + name) == nullptr) continue;
      Tensor gradient = variable.value();
      if (merged) {
        const std::string rest = name.substr(std::string("bias_ih").size());
        gradient = exported.at({"bias_ih" + rest}).value() + exported.at({"bias_hh" + rest}).value();
      }
      check_gradient("params/" + name, gradient);
    }
  }

  const Arrays& arrays_;
  Setting setting_;
  DType dtype_;
  Network<C> network_;
  bool wide_;
  std::string reference_;
};

template <class C>
void run_pytorch(const Json& entry, const Arrays& arrays) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    PyTorchCase<C> layer(entry, arrays, dtype);
    layer.check_values();
    if (dtype == DType::float32) layer.check_mapped();
    if (entry.value("grad", false)) layer.check_gradients();
  }
}

// ---------------------------------------------------------------- ONNX

Setting onnx_setting(const Json& entry) {
  const bool after = entry.value("lbr", 0) != 0;
  const rnn::GRUForm form = after ? rnn::GRUForm::reset_after : rnn::GRUForm::reset_before;
  return {.layout = rnn::WeightLayout::onnx,
          .options = {.gru_form = form},
          .kind = entry.at("op"),
          .in = entry.at("I"),
          .hidden = entry.at("H"),
          .bidirectional = entry.at("direction") == "bidirectional",
          .form = form,
          .rnn = {.time_major = true,
                  .reverse = entry.at("direction") == "reverse",
                  .keep_order = true,
                  .padding_output = rnn::PaddingOutput::zero}};
}

State onnx_weights(const Arrays& arrays) {
  State weights;
  for (const char* name : {"W", "R", "B", "P"}) {
    if (const Tensor* found = find(arrays, name)) weights.set({name}, Variable(*found));
  }
  return weights;
}

// ONNX Runtime gives zeros where a sequence has no steps; here the state is the initial one.
Tensor with_initial_where_empty(const Tensor& final, const Tensor* lengths, const std::optional<Tensor>& initial) {
  if (lengths == nullptr || !initial) return final;
  return where(expand_dims(*lengths > 0, -1), final, *initial);
}

template <class C>
void run_onnx(const Json& entry, const Arrays& arrays) {
  const Setting setting = onnx_setting(entry);
  Network<C> network = loaded<C>(setting, onnx_weights(arrays), DType::float32);
  const Tensor* const lengths = find(arrays, "sequence_lens");
  States initial;
  if (const Tensor* h = find(arrays, "initial_h")) initial.h = *h;
  if (const Tensor* c = find(arrays, "initial_c")) initial.c = *c;
  const Result result =
      network.run(at(arrays, "X"), lengths == nullptr ? std::nullopt : std::optional(*lengths), initial);
  // Y is [time, directions, batch, hidden].
  const Tensor y = concatenate(split_axis(at(arrays, "Y"), setting.bidirectional ? 2 : 1, 1), -1);
  require_close(result.y, squeeze(y, 1), within_scaled(float32_value), "Y");
  const Tensor h = with_initial_where_empty(at(arrays, "Y_h"), lengths, initial.h);
  require_close(*result.states.h, h, within_scaled(float32_value), "Y_h");
  if (!result.states.c) return;
  const Tensor c = with_initial_where_empty(at(arrays, "Y_c"), lengths, initial.c);
  require_close(*result.states.c, c, within_scaled(float32_value), "Y_c");
}

// ---------------------------------------------------------------- Keras

Setting keras_setting(const Json& entry) {
  const bool after = entry.value("reset_after", true);
  const bool both = entry.value("bidirectional", false);
  // A layer repeats outputs at steps that do not count; a Bidirectional makes its layers give zeros there.
  const rnn::PaddingOutput skipped = both ? rnn::PaddingOutput::zero : rnn::PaddingOutput::repeat_last;
  return {.layout = rnn::WeightLayout::keras,
          .kind = entry.at("cls"),
          .in = entry.at("shape")[2],
          .hidden = entry.at("units"),
          .bidirectional = both,
          .sums = entry.value("merge", "concat") == "sum",
          .form = after ? rnn::GRUForm::reset_after : rnn::GRUForm::reset_before,
          .rnn = {.reverse = entry.value("go_backwards", false), .padding_output = skipped}};
}

// The names that Keras gives: those of the golden file are short.
State keras_weights(const Arrays& arrays) {
  State weights;
  for (const auto& [path, variable] : below(arrays, "params/")) {
    const Path layer = path[0] == Key("fwd")   ? Path{"forward_layer", "cell"}
                       : path[0] == Key("bwd") ? Path{"backward_layer", "cell"}
                                               : Path{"cell"};
    weights.set(layer / path.back(), variable);
  }
  return weights;
}

// y [batch, time, features] as Keras has it after going backwards: the steps behind the end of a sequence come first,
// and have no output before them to repeat.
Tensor with_padding_first(const Tensor& y, const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Tensor row = y[static_cast<Index>(i)];
    const Index padding = row.size(0) - lengths[i];
    rows.push_back(concatenate({zeros({padding, row.size(1)}, row.dtype()), row.slice(0, lengths[i])}, 0));
  }
  return stack(rows, 0);
}

// The number of steps of each sequence up to the last one that counts; none if all do.
std::vector<std::int64_t> ends_of(const Json& entry) {
  if (entry.contains("lens")) return entry.at("lens").get<std::vector<std::int64_t>>();
  std::vector<std::int64_t> ends;
  for (const Json& row : entry.value("mask", Json::array())) {
    const auto flags = row.get<std::vector<int>>();
    ends.push_back(flags.rend() - std::find(flags.rbegin(), flags.rend(), 1));
  }
  return ends;
}

template <class C>
void run_keras(const Json& entry, const Arrays& arrays) {
  Network<C> network = loaded<C>(keras_setting(entry), keras_weights(arrays), DType::float32);
  const std::vector<std::int64_t> ends = ends_of(entry);
  std::optional<Tensor> lengths;
  std::optional<Tensor> mask;
  if (entry.contains("lens")) lengths = tensor(ends, {static_cast<Index>(ends.size())});
  if (entry.contains("mask")) mask = at(arrays, "mask").astype(DType::boolean);
  const Result result = network.run(at(arrays, "x"), lengths, {}, mask);
  Tensor y = result.y;
  if (!ends.empty() && entry.value("go_backwards", false)) {
    y = with_padding_first(y, ends);
  }
  require_close(y, at(arrays, "y"), within_scaled(float32_value), "y");
  Index position = 0;
  for (const char* side : {"", "fwd/", "bwd/"}) {
    const Tensor* const h = find(arrays, std::string("state/") + side + "h");
    if (h == nullptr) continue;
    require_close((*result.states.h)[position], *h, within_scaled(float32_value), std::string(side) + "h");
    if (result.states.c) {
      const std::string name = std::string("state/") + side + "c";
      require_close((*result.states.c)[position], at(arrays, name), within_scaled(float32_value), name);
    }
    ++position;
  }
}

// ---------------------------------------------------------------- all

template <class C>
void run_of(const Json& entry, const Arrays& arrays) {
  const std::string source = entry.at("source");
  if (source == "torch") return run_pytorch<C>(entry, arrays);
  if (source == "onnxruntime") return run_onnx<C>(entry, arrays);
  run_keras<C>(entry, arrays);
}

}  // namespace

bool is_foreign(const Json& entry) {
  const std::string source = entry.at("source");
  return source == "torch" || source == "onnxruntime" || source == "keras";
}

void run_foreign(const Json& entry, const Arrays& arrays) {
  const std::string kind = entry.contains("op") ? entry.at("op") : entry.at("cls");
  if (entry.contains("proj_size")) return run_pytorch<rnn::ProjectedLSTMCell>(entry, arrays);
  if (kind == "LSTM" && entry.at("source") == "onnxruntime") {
    run_onnx<rnn::PeepholeLSTMCell>(entry, arrays);  // without P its peepholes are zero
    if (entry.value("peephole", false)) return;
  }
  if (kind == "LSTM") {
    run_of<rnn::LSTMCell>(entry, arrays);
    return run_of<rnn::OptimizedLSTMCell>(entry, arrays);
  }
  if (kind == "GRU") return run_of<rnn::GRUCell>(entry, arrays);
  if (kind == "RNN" || kind == "SimpleRNN") return run_of<rnn::SimpleCell>(entry, arrays);
  throw Skip("layer " + kind);
}

}  // namespace strata::golden
