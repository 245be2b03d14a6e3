// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "golden_runners/recurrent_foreign.h"
#include "golden_runners/recurrent_layers.h"
#include "golden_runners/recurrent_seq2seq.h"
#include "strata/nn/split.h"
#include "strata/recurrent/bidirectional.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"
#include "strata/tensor/gradient.h"
#include "strata/tensor/linear_algebra.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "support/golden_runner.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;
using support::require_close;
using support::Skip;
using support::within_scaled;

// Of |a - b| / (1 + |b|): Flax itself is within 3e-7 of its float64 result; the last is for one case with saturated
// gates.
struct Bounds {
  double value;
  double gradient;
  double saturated_gradient;
};
constexpr Bounds float32_bounds{2e-6, 1e-5, 5e-5};
constexpr Bounds float64_bounds{1e-12, 1e-9, 1e-9};

// The arrays of one case, by their roles.
class CaseArrays {
 public:
  CaseArrays(const Arrays& file, std::string id) : file_(file), prefix_(std::move(id) + "/") {}

  [[nodiscard]] const Tensor* find(const std::string& role) const {
    const auto found = file_.find(prefix_ + role);
    return found == file_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Tensor& at(const std::string& role) const {
    const Tensor* found = find(role);
    require(found != nullptr, "the file lacks " + prefix_ + role);
    return *found;
  }
  // Everything below a role, by the rest of the name.
  [[nodiscard]] Arrays below(const std::string& role) const {
    Arrays result;
    const std::string start = prefix_ + role;
    for (auto entry = file_.lower_bound(start); entry != file_.end() && entry->first.starts_with(start); ++entry) {
      result.emplace(entry->first.substr(start.size()), entry->second);
    }
    return result;
  }

 private:
  const Arrays& file_;
  std::string prefix_;
};

// One case: a stack of layers (mostly one), run in one element type.
class LayerCase {
 public:
  LayerCase(const Json& entry, const CaseArrays& arrays, DType dtype) : entry_(entry), arrays_(arrays), dtype_(dtype) {
    const Json& layer = entry.at("layer");
    const Json layers = layer.at("kind") == "stack" ? layer.at("layers") : Json::array({layer});
    stacked_ = layer.at("kind") == "stack";
    Index width = arrays.at("x").size(-1);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers_.push_back(make_layer(entry, layers[i], width, dtype));
      layers_.back()->set_params(arrays.below("params/" + prefix(i)));
      width = output_width(layers[i]);
    }
  }

  void check_values(const std::string& reference, double bound) {
    const LayerOutput output = run(arrays_.at("x").astype(dtype_), cast(arrays_.below("carry0/")));
    const Tensor& expected = arrays_.at(reference + "y");
    Tensor y = output.y;
    require(y.dtype() == expected.dtype() || expected.dtype() == DType::float64,
            "y is " + describe(y) + ", expected " + describe(expected));
    require(y.shape() == expected.shape(),
            "y has shape " + to_string(y.shape()) + ", expected " + to_string(expected.shape()));
    if (entry_.value("compare", "") == "valid_only") y = zero_padding(y);
    require_close(y, expected, within_scaled(bound), reference + "y");
    for (const auto& [name, value] : output.carry) {
      require_close(value, arrays_.at(reference + "carry/" + name), within_scaled(bound), reference + "carry/" + name);
    }
  }

  void check_gradients(const std::string& reference, double bound) {
    GradientTape tape;
    std::vector<std::string> names;
    std::vector<Tensor> sources;
    const auto watch = [&](const std::string& name, const Tensor& value) {
      names.push_back(name);
      sources.push_back(tape.watch(value));
      return sources.back();
    };
    const Tensor x = watch("x", arrays_.at("x").astype(dtype_));
    Arrays carry = cast(arrays_.below("carry0/"));
    for (auto& [name, value] : carry) value = watch("carry0/" + name, value);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (const internal::Leaf& leaf : layers_[i]->leaves()) leaf.variable->reset(watch("", leaf.variable->value()));
    }
    const LayerOutput output = run(x, carry);
    Tensor loss = sum(output.y * arrays_.at("ct/y").astype(dtype_));
    for (const auto& [name, value] : output.carry) {
      loss = loss + sum(value * arrays_.at("ct/carry/" + name).astype(dtype_));
    }
    const std::vector<Tensor> gradients = tape.gradient(loss, sources);
    for (std::size_t i = 0; i < gradients.size() && !names[i].empty(); ++i) {
      require_close(gradients[i], arrays_.at(reference + names[i]), within_scaled(bound), reference + names[i]);
    }
    check_parameter_gradients(gradients, 1 + carry.size(), reference, bound);
  }

 private:
  [[nodiscard]] std::string prefix(std::size_t i) const { return stacked_ ? std::to_string(i) + "/" : ""; }

  static Index output_width(const Json& layer) {
    if (layer.at("kind") != "bidirectional") return layer.at("cell").at("features");
    const Index forward = layer.at("forward").at("cell").at("features");
    const bool side_by_side = !layer.contains("merge") || layer.at("merge").is_null() || layer.at("merge") == "concat";
    return side_by_side ? forward + layer.at("backward").at("cell").at("features").get<Index>() : forward;
  }

  Arrays cast(Arrays arrays) const {
    for (auto& [name, value] : arrays) value = value.astype(dtype_);
    return arrays;
  }

  LayerOutput run(const Tensor& x, const Arrays& carry) {
    LayerOutput output{x, {}};
    std::optional<Tensor> lengths;
    if (const Tensor* given = arrays_.find("seq_lengths")) lengths = *given;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Arrays own;
      for (const auto& [name, value] : carry) {
        if (name.starts_with(prefix(i))) own.emplace(name.substr(prefix(i).size()), value);
      }
      LayerOutput next = layers_[i]->run({output.y, lengths, own});
      for (const auto& [name, value] : next.carry) output.carry.emplace(prefix(i) + name, value);
      output.y = next.y;
    }
    return output;
  }

  // y [*batch, time, features] with zeros behind each row's length.
  [[nodiscard]] Tensor zero_padding(const Tensor& y) const {
    const Tensor& lengths = arrays_.at("seq_lengths");
    const Tensor steps = arange(y.size(-2));
    return where(expand_dims(steps < expand_dims(lengths, -1), -1), y, zeros_like(y));
  }

  void check_parameter_gradients(const std::vector<Tensor>& gradients, std::size_t first, const std::string& reference,
                                 double bound) {
    std::size_t next = first;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      State state;
      for (const internal::Leaf& leaf : layers_[i]->leaves()) state.set(leaf.path, Param(gradients[next++]));
      const Arrays named = layers_[i]->rename(state);
      for (const auto& [name, expected] : arrays_.below(reference + "params/" + prefix(i))) {
        require(named.contains(name), "there is no gradient of " + name);
        require_close(named.at(name), expected, within_scaled(bound), reference + "params/" + prefix(i) + name);
      }
    }
  }

  const Json& entry_;
  const CaseArrays& arrays_;
  DType dtype_;
  bool stacked_ = false;
  std::vector<std::unique_ptr<Layer>> layers_;
};

void run_layer(const Json& entry, const CaseArrays& arrays) {
  if (entry.contains("tolerance")) {  // computed in half precision; the outputs are of the parameters' type
    return LayerCase(entry, arrays, arrays.at("y").dtype()).check_values("", entry.at("tolerance"));
  }
  LayerCase narrow(entry, arrays, DType::float32);
  narrow.check_values("", float32_bounds.value);
  LayerCase wide(entry, arrays, DType::float64);
  if (arrays.find("ref64/y") != nullptr) wide.check_values("ref64/", float64_bounds.value);
  const bool saturated = entry.contains("x_scale");
  if (arrays.find("grad/x") != nullptr) {
    narrow.check_gradients("grad/", saturated ? float32_bounds.saturated_gradient : float32_bounds.gradient);
  }
  if (arrays.find("grad64/x") != nullptr) wide.check_gradients("grad64/", float64_bounds.gradient);
}

void run_flip(const Json& entry, const CaseArrays& arrays) {
  std::optional<Tensor> lengths;
  if (const Tensor* given = arrays.find("seq_lengths")) lengths = *given;
  const recurrent::FlipOptions options{.num_batch_dims = entry.at("num_batch_dims"),
                                       .time_major = entry.at("time_major")};
  // Flax takes lengths that cannot be modulo the number of steps; here they are an error.
  const Index time = arrays.at("x").size(options.time_major ? 0 : options.num_batch_dims);
  if (lengths && any(logical_or(*lengths<0, *lengths> time)).item<bool>()) {
    try {
      static_cast<void>(recurrent::flip_sequences(arrays.at("x"), lengths, options));
    } catch (const ValueError&) {
      return;
    }
    return require(false, "lengths out of range were accepted");
  }
  const Tensor y = recurrent::flip_sequences(arrays.at("x"), lengths, options);
  require_close(y, arrays.at("y"), support::exactly, "y");
}

void require_orthonormal(const Tensor& kernel, const std::string& name) {
  const Tensor wide = kernel.astype(DType::float64);
  const Tensor product = matmul(wide, transpose(wide));
  require_close(product, eye(kernel.size(0), DType::float64), support::within(1e-5), name + " times its transpose");
}

template <class M>
void check_init(const M& module, const Rngs& rngs, const Json& entry, const CaseArrays& arrays) {
  const Arrays expected = arrays.below("params/");
  const State state = nn::state(module);
  require(static_cast<std::size_t>(state.size()) == expected.size(), "number of parameters");
  for (const auto& [path, variable] : state) {
    const std::string name = to_string(path);
    const std::string layer = path[path.depth() - 2].text();
    const bool recurrent_kernel = layer[0] == 'h' || layer == "dense_h";
    require(expected.contains(name), "unexpected parameter " + name);
    if (recurrent_kernel && path[path.depth() - 1] == Key("kernel")) {
      require(variable.value().shape() == expected.at(name).shape(), "shape of " + name);
      require_orthonormal(variable, name);
    } else {
      require_close(variable, expected.at(name), support::within_ulps(4), name);
    }
  }
  const Variable& count = nn::state(rngs).at({"default", "count"});
  require(count.value().item<Index>() == entry.at("draws").get<Index>(),
          "drew " + std::to_string(count.value().item<Index>()) + " keys");
}

template <class C>
void run_init_of(const Json& entry, const CaseArrays& arrays) {
  Rngs rngs(entry.at("seed").get<std::int64_t>());
  const Index in = entry.at("in_features");
  const Index features = entry.at("features");
  const std::string wrap = entry.at("wrap");
  if (wrap == "cell") return check_init(C{in, features, rngs}, rngs, entry, arrays);
  if (wrap == "rnn") return check_init(recurrent::RNN<C>{C{in, features, rngs}}, rngs, entry, arrays);
  if (wrap == "bidirectional") {
    return check_init(recurrent::Bidirectional<C>{C{in, features, rngs}, C{in, features, rngs}}, rngs, entry, arrays);
  }
  throw Skip("wrap " + wrap);
}

void run_init(const Json& entry, const CaseArrays& arrays) {
  const std::string cell = entry.at("cell");
  if (cell == "LSTMCell") return run_init_of<recurrent::LSTMCell>(entry, arrays);
  if (cell == "OptimizedLSTMCell") return run_init_of<recurrent::OptimizedLSTMCell>(entry, arrays);
  if (cell == "GRUCell") return run_init_of<recurrent::GRUCell>(entry, arrays);
  if (cell == "SimpleCell") return run_init_of<recurrent::SimpleCell>(entry, arrays);
  throw Skip("cell " + cell);
}

void run_case(const Json& entry, const CaseArrays& arrays) {
  const std::string group = entry.at("group");
  if (group == "flip") return run_flip(entry, arrays);
  if (group == "init") return run_init(entry, arrays);
  if (group == "seq2seq") return run_seq2seq(entry, arrays.below(""));
  if (is_foreign(entry)) return run_foreign(entry, arrays.below(""));
  if (!entry.contains("layer")) throw Skip("group " + group);
  run_layer(entry, arrays);
}

void run_all(const std::filesystem::path& dir, GoldenRun& run) {
  std::map<std::string, Arrays> files;
  for (const char* manifest : {"flax", "torch", "onnx", "keras"}) {
    const std::filesystem::path path = dir / ("manifest_" + std::string(manifest) + ".json");
    if (!std::filesystem::exists(path)) continue;
    const Json json = support::load_json(path);
    for (const Json& entry : json.at("cases")) {
      const std::string id = entry.at("id");
      const std::string file = entry.at("file");
      if (!files.contains(file)) files.emplace(file, support::load_safetensors(dir / file));
      run.run(id, [&] { run_case(entry, CaseArrays(files.at(file), id)); });
    }
  }
}

}  // namespace
}  // namespace strata::golden

int main(int argc, char** argv) {
  return strata::support::golden_main(argc, argv, "recurrent", strata::golden::run_all);
}
