// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden_runners/conv_parse.h"
#include "golden_runners/nnx_cases.h"
#include "strata/nn/batch_norm.h"
#include "strata/nn/conv.h"
#include "strata/nn/dropout.h"
#include "strata/nn/embed.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/nn/split.h"
#include "strata/tensor/gradient.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;
using support::require_close;
using support::Skip;

using Inputs = std::map<std::string, Tensor>;
using Arrays = std::map<std::string, Tensor>;

// A case with the arrays of its name.
struct Case {
  const Json& json;
  const Arrays& arrays;

  [[nodiscard]] std::string name() const { return json.at("name"); }
  [[nodiscard]] const Tensor* find(const std::string& what) const {
    const auto found = arrays.find(name() + "/" + what);
    return found == arrays.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Tensor& at(const std::string& what) const { return arrays.at(name() + "/" + what); }
  [[nodiscard]] support::Tolerance tolerance(const char* group) const {
    return support::within(json.at("tolerance").at(group).get<double>());
  }
};

// Arguments by name.
class Arguments {
 public:
  Arguments(const Case& c, const char* group)
      : layer_(c.json.at("layer")), values_(c.json.value(group, Json::object())) {}
  template <class T>
  T take(const char* name) {
    T value = values_.at(name).template get<T>();
    values_.erase(name);
    return value;
  }
  template <class T>
  void read(const char* name, T& value) {
    if (values_.contains(name)) value = take<T>(name);
  }
  void read(const char* name, std::optional<bool>& value) {
    if (values_.contains(name)) value = take<bool>(name);
  }
  void read(const char* name, std::vector<int>& axes) {
    if (!values_.contains(name)) return;
    axes = values_.at(name).is_array() ? values_.at(name).get<std::vector<int>>()
                                       : std::vector<int>{values_.at(name).get<int>()};
    values_.erase(name);
  }
  void read(const char* name, std::vector<Index>& per_axis) {
    if (values_.contains(name)) per_axis = parse_per_axis(take<Json>(name));
  }
  void read(const char* name, ConvPadding& padding) {
    if (values_.contains(name)) padding = parse_padding(take<Json>(name));
  }
  void ignore(const char* name) { values_.erase(name); }

  // Skips the case if it has other arguments than those that were read.
  void check_all_read() const {
    if (!values_.empty()) throw Skip("layer " + layer_ + " with " + values_.begin().key());
  }

 private:
  std::string layer_;
  Json values_;
};

Path path_of(const Json& keys) {
  Path path;
  for (const Json& key : keys) {
    path = path / (key.is_string() ? Key(key.get<std::string>()) : Key(key.get<Index>()));
  }
  return path;
}

void check_leaves(const State& state, const Json& leaves) {
  require(state.size() == static_cast<Index>(leaves.size()),
          "there are " + std::to_string(state.size()) + " leaves, not " + std::to_string(leaves.size()));
  for (const Json& leaf : leaves) {
    const Path path = path_of(leaf.at("path"));
    const Variable* variable = state.find(path);
    require(variable != nullptr, "there is no leaf " + to_string(path));
    require(variable->kind().name == leaf.at("type").get<std::string>(),
            to_string(path) + " is " + describe(*variable));
    require(variable->value().shape() == support::shape_from(leaf.at("shape")), to_string(path) + " has another shape");
    require(name(variable->value().dtype()) == leaf.at("dtype").get<std::string>(),
            to_string(path) + " has another type");
    const Json metadata = leaf.value("metadata", Json::object());
    require(!metadata.contains("tag") ||
                (variable->tag() != nullptr && *variable->tag() == metadata.at("tag").get<std::string>()),
            to_string(path) + " has another tag");
  }
}

Inputs read_inputs(const Case& c) {
  Inputs inputs;
  for (const Json& spec : c.json.at("inputs")) {
    const std::string name = spec.at("name");
    const Tensor& stored = c.at("in/" + name);
    const bool is_mask = spec.value("dtype", "") == "bool" || spec.value("kind", "") == "bool";
    inputs[name] = is_mask ? stored.astype(DType::boolean) : stored;
  }
  return inputs;
}

// Leaves that have new values in the data have these; all others are as they were.
void check_after(const Case& c, const State& before, const State& after) {
  for (const auto& [path, variable] : after) {
    const Tensor* expected = c.find("after/" + to_string(path));
    if (expected != nullptr) {
      require_close(variable.value(), *expected, c.tolerance("after"), "after/" + to_string(path));
    } else {
      require_close(variable.value(), before.at(path).value(), support::exactly, "unchanged " + to_string(path));
    }
  }
}

template <class Layer>
using Call = std::function<Tensor(Layer& layer, const Inputs& inputs)>;

template <class Layer>
void run_layer(const Case& c, Layer layer, const Call<Layer>& call) {
  check_leaves(nn::state(layer), c.json.at("leaves"));
  State state = nn::state(layer);
  for (const auto& [path, variable] : nn::state(layer)) {
    state.at(path).set_value(c.at("param/" + to_string(path)));
  }
  nn::update(layer, state);
  const std::string mode = c.json.value("mode", "");
  if (mode == "train") nn::train(layer);
  if (mode == "eval") nn::eval(layer);

  GradientTape tape;
  std::vector<std::pair<std::string, Tensor>> sources;
  State watched = nn::state(layer, of_type<Param>);
  for (const auto& [path, variable] : nn::state(layer, of_type<Param>)) {
    const Tensor value = tape.watch(variable.value());
    watched.at(path).set_value(value);
    sources.emplace_back("grad/" + to_string(path), value);
  }
  nn::update(layer, watched);
  Inputs inputs = read_inputs(c);
  for (auto& [name, input] : inputs) {
    if (!is_floating(input.dtype())) continue;
    input = tape.watch(input);
    sources.emplace_back("grad_in/" + name, input);
  }
  const Tensor out = call(layer, inputs);
  require_close(out, c.at("out"), c.tolerance("out"), "out");

  std::vector<Tensor> tracked;
  for (const auto& [name, source] : sources) tracked.push_back(source);
  const std::vector<Tensor> gradients = tape.gradient({&out, 1}, {&c.at("ct"), 1}, tracked);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string& what = sources[i].first;
    require_close(gradients[i], c.at(what), c.tolerance(what.substr(0, what.find('/')).c_str()), what);
  }
  check_after(c, state, nn::state(layer));
}

void run_linear(const Case& c) {
  nn::LinearOptions options;
  Arguments args(c, "args");
  const auto in = args.take<Index>("in_features");
  const auto out = args.take<Index>("out_features");
  args.read("use_bias", options.use_bias);
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::Linear>(c, nn::Linear(in, out, rngs, options),
                        [](nn::Linear& layer, const Inputs& inputs) { return layer(inputs.at("x")); });
}

void run_conv(const Case& c) {
  nn::ConvOptions options;
  Arguments args(c, "args");
  const auto in = args.take<Index>("in_features");
  const auto out = args.take<Index>("out_features");
  std::vector<Index> kernel_size;
  args.read("kernel_size", kernel_size);
  args.read("strides", options.window.strides);
  args.read("padding", options.window.padding);
  args.read("input_dilation", options.window.input_dilation);
  args.read("kernel_dilation", options.window.kernel_dilation);
  args.read("feature_group_count", options.window.feature_groups);
  args.read("use_bias", options.use_bias);
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::Conv>(c, nn::Conv(in, out, Shape(kernel_size), rngs, options),
                      [](nn::Conv& layer, const Inputs& inputs) { return layer(inputs.at("x")); });
}

void run_embed(const Case& c) {
  Arguments args(c, "args");
  const auto count = args.take<Index>("num_embeddings");
  const auto features = args.take<Index>("features");
  const std::string method = c.json.value("method", "__call__");
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::Embed>(c, nn::Embed(count, features, rngs), [&](nn::Embed& layer, const Inputs& inputs) {
    return method == "attend" ? layer.attend(inputs.at("x")) : layer(inputs.at("x"));
  });
}

std::optional<Tensor> mask_of(const Inputs& inputs) {
  return inputs.contains("mask") ? std::optional<Tensor>(inputs.at("mask")) : std::nullopt;
}

void run_batch_norm(const Case& c) {
  nn::BatchNormOptions options;
  Arguments args(c, "args");
  const auto features = args.take<Index>("num_features");
  args.read("use_running_average", options.use_running_average);
  args.read("axis", options.axis);
  args.read("momentum", options.momentum);
  args.read("epsilon", options.epsilon);
  args.read("use_bias", options.use_bias);
  args.read("use_scale", options.use_scale);
  args.ignore("use_fast_variance");
  nn::BatchNormCall call;
  Arguments call_args(c, "call");
  call_args.read("use_running_average", call.use_running_average);
  call_args.check_all_read();
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::BatchNorm>(c, nn::BatchNorm(features, rngs, options), [&](nn::BatchNorm& layer, const Inputs& inputs) {
    call.mask = mask_of(inputs);
    return layer(inputs.at("x"), call);
  });
}

void run_layer_norm(const Case& c) {
  nn::LayerNormOptions options;
  Arguments args(c, "args");
  const auto features = args.take<Index>("num_features");
  args.read("epsilon", options.epsilon);
  args.read("use_bias", options.use_bias);
  args.read("use_scale", options.use_scale);
  args.read("reduction_axes", options.reduction_axes);
  args.read("feature_axes", options.feature_axes);
  args.ignore("use_fast_variance");
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::LayerNorm>(c, nn::LayerNorm(features, rngs, options), [](nn::LayerNorm& layer, const Inputs& inputs) {
    return layer(inputs.at("x"), {.mask = mask_of(inputs)});
  });
}

void run_dropout(const Case& c) {
  nn::DropoutOptions options;
  Arguments args(c, "args");
  const auto rate = args.take<double>("rate");
  args.read("deterministic", options.deterministic);
  args.read("broadcast_dims", options.broadcast_dims);
  args.read("rng_collection", options.rng_collection);
  nn::DropoutCall call;
  Arguments call_args(c, "call");
  call_args.read("deterministic", call.deterministic);
  call_args.check_all_read();
  args.check_all_read();
  Rngs rngs(0);
  run_layer<nn::Dropout>(c, nn::Dropout(rate, rngs, options),
                         [&](nn::Dropout& layer, const Inputs& inputs) { return layer(inputs.at("x"), call); });
}

const std::map<std::string, void (*)(const Case&)> layer_runners{
    {"Linear", run_linear},        {"Conv", run_conv},       {"Embed", run_embed}, {"BatchNorm", run_batch_norm},
    {"LayerNorm", run_layer_norm}, {"Dropout", run_dropout},
};

}  // namespace

void run_layer_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json manifest = support::load_json(dir / "layers.json");
  const Arrays arrays = support::load_safetensors(dir / "layers.safetensors");
  for (const Json& json : manifest.at("cases")) {
    run.run("layers/" + json.at("name").get<std::string>(), [&] {
      const std::string layer = json.at("layer");
      const auto runner = layer_runners.find(layer);
      if (runner == layer_runners.end()) throw Skip("layer " + layer);
      runner->second({json, arrays});
    });
  }
}

}  // namespace strata::golden
