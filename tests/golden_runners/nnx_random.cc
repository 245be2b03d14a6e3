// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "golden_runners/nnx_cases.h"
#include "strata/nn/dropout.h"
#include "strata/nn/initializers.h"
#include "strata/nn/seeds.h"
#include "strata/state/rngs.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/random.h"
#include "support/json.h"

namespace strata::golden {
namespace {

using nn::Initializer;
using nn::initializers::FanAxes;
using support::GoldenRun;
using support::Json;
using support::require;
using support::require_close;
using support::Skip;

Tensor floats(const Json& values) {
  return Tensor(std::span<const float>(values.get<std::vector<float>>()), Shape{static_cast<Index>(values.size())});
}

Json to_json(RandomKey key) { return Json::array({key.high, key.low}); }

Json to_json(const std::vector<RandomKey>& keys) {
  Json list = Json::array();
  for (const RandomKey key : keys) list.push_back(to_json(key));
  return list;
}

void require_equal(const Json& actual, const Json& expected, const std::string& what) {
  require(actual == expected, what + ": got " + actual.dump() + ", expected " + expected.dump());
}

// The parts of a name like "bernoulli_0.3_10".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts{""};
  for (const char c : name) {
    if (c == '_') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Samples of one seed; `name` is "normal_6", `expected` a flat list.
void run_sample(const std::string& name, RandomKey key, const Json& expected, const Json& tolerance) {
  const Shape shape{static_cast<Index>(expected.size())};
  const auto compare = [&](const Tensor& actual, const char* kind) {
    require_close(actual, floats(expected), support::within(tolerance.at(kind)), name);
  };
  if (name.starts_with("split_")) {
    require_equal(to_json(random::split(key, shape[0])), expected, name);
  } else if (name.starts_with("bits_")) {
    const Tensor bits = random::bits(key, shape);
    require_equal(std::vector(bits.data<std::uint32_t>().begin(), bits.data<std::uint32_t>().end()), expected, name);
  } else if (name.starts_with("uniform_")) {
    compare(random::uniform(key, shape), "uniform");
  } else if (name.starts_with("normal_")) {
    compare(random::normal(key, shape), "normal");
  } else if (name.starts_with("truncated_normal_")) {
    compare(random::truncated_normal(key, shape, -2, 2), "truncated_normal");
  } else if (name.starts_with("bernoulli_")) {
    const Tensor drawn = random::bernoulli(key, shape, std::stod(parts_of(name).at(1)));
    require_close(drawn, floats(expected), support::exactly, name);
  } else {
    throw Skip("sample " + name);
  }
}

void run_streams(std::int64_t seed, const Json& expected) {
  Rngs rngs(seed, {{"dropout", seed + 1}});
  std::vector<RandomKey> draws;
  for (const char* name : {"default", "default", "unknown"}) draws.push_back(rngs.draw(name));
  require_equal(to_json(draws), expected.at("default_default_unknown"), "draws");
  require_equal(to_json(rngs.draw("dropout")), expected.at("dropout"), "dropout");

  Rngs forked = rngs.fork();
  for (const auto& [name, count] : expected.at("counts_after").items()) {
    require_equal(rngs.stream(name).count.value().item<std::int64_t>(), count, "count of " + name);
    require_equal(forked.stream(name).count.value().item<std::int64_t>(), expected.at("fork_counts").at(name),
                  "count of forked " + name);
    const Tensor key = forked.stream(name).key;
    require_equal(Json::array({key.at<std::int64_t>({0}), key.at<std::int64_t>({1})}),
                  expected.at("fork_keys").at(name), "key of forked " + name);
  }
  Rngs params({{"params", seed}});
  require_equal(to_json(random::split(params.draw("params"), 3)), expected.at("split_3_of_params"), "split");
}

void run_dropout(std::int64_t seed, const Json& expected) {
  Rngs rngs({{"dropout", seed}});
  nn::Dropout dropout(0.4, rngs);
  for (const Json& mask : expected.at("masks")) {
    const Tensor y = dropout(ones(Shape{static_cast<Index>(mask.size())}));
    require_close(not_equal(y, 0).astype(DType::float32), floats(mask), support::exactly, "mask");
  }
}

void run_reseed(std::int64_t seed, const Json& expected) {
  Rngs dropout({{"dropout", 1}});
  Rngs usual(2);
  std::map<std::string, nn::Dropout> layers;
  layers.emplace("a", nn::Dropout(0.5, dropout));
  layers.emplace("b", nn::Dropout(0.5, dropout));
  layers.emplace("c", nn::Dropout(0.5, usual));
  static_cast<void>(layers.at("a")(ones({2})));
  const Tensor untouched = layers.at("c").rngs->key;
  nn::reseed(layers, {{"dropout", seed}});
  for (auto& [name, layer] : layers) {
    const Tensor key = layer.rngs->key;
    if (name == "c") {
      require_close(key, untouched, support::exactly, "key of c");
    } else {
      require_equal(Json::array({key.at<std::int64_t>({0}), key.at<std::int64_t>({1})}), expected.at("keys").at(name),
                    "key of " + name);
    }
    require_equal(layer.rngs->count.value().item<std::int64_t>(), expected.at("counts").at(name), "count of " + name);
  }
}

std::vector<int> axes_from(const Json& arguments, const char* name, const std::vector<int>& usual) {
  if (!arguments.contains(name)) return usual;
  const Json& value = arguments.at(name);
  return value.is_array() ? value.get<std::vector<int>>() : std::vector<int>{value.get<int>()};
}

FanAxes fan_axes_from(const Json& arguments) {
  const FanAxes usual;
  return {axes_from(arguments, "in_axis", usual.in), axes_from(arguments, "out_axis", usual.out),
          axes_from(arguments, "batch_axis", usual.batch)};
}

Initializer variance_scaling_from(const Json& arguments) {
  using nn::initializers::Distribution;
  using nn::initializers::FanMode;
  static const std::map<std::string, FanMode> modes{{"fan_in", FanMode::fan_in},
                                                    {"fan_out", FanMode::fan_out},
                                                    {"fan_avg", FanMode::fan_avg},
                                                    {"fan_geo_avg", FanMode::fan_geo_avg}};
  static const std::map<std::string, Distribution> distributions{{"truncated_normal", Distribution::truncated_normal},
                                                                 {"normal", Distribution::normal},
                                                                 {"uniform", Distribution::uniform}};
  return nn::initializers::variance_scaling(arguments.at("scale"), modes.at(arguments.at("mode")),
                                            distributions.at(arguments.at("distribution")), fan_axes_from(arguments));
}

Initializer initializer_from(const std::string& name, const Json& arguments) {
  namespace init = nn::initializers;
  using Make = std::function<Initializer(const Json&)>;
  const auto of_axes = [](Initializer (*make)(FanAxes)) -> Make {
    return [make](const Json& a) { return make(fan_axes_from(a)); };
  };
  const auto of_columns = [](Initializer (*make)(double, int)) -> Make {
    return [make](const Json& a) { return make(a.value("scale", 1.0), a.value("column_axis", -1)); };
  };
  static const std::map<std::string, Make> makers{
      {"zeros", [](const Json&) { return init::zeros(); }},
      {"ones", [](const Json&) { return init::ones(); }},
      {"constant", [](const Json& a) { return init::constant(a.at("value")); }},
      {"normal", [](const Json& a) { return init::normal(a.value("stddev", 0.01)); }},
      {"uniform", [](const Json& a) { return init::uniform(a.value("scale", 0.01)); }},
      {"truncated_normal", [](const Json& a) { return init::truncated_normal(a.value("stddev", 0.01)); }},
      {"lecun_normal", of_axes(init::lecun_normal)},
      {"lecun_uniform", of_axes(init::lecun_uniform)},
      {"glorot_normal", of_axes(init::glorot_normal)},
      {"glorot_uniform", of_axes(init::glorot_uniform)},
      {"xavier_normal", of_axes(init::glorot_normal)},
      {"xavier_uniform", of_axes(init::glorot_uniform)},
      {"he_normal", of_axes(init::he_normal)},
      {"he_uniform", of_axes(init::he_uniform)},
      {"kaiming_normal", of_axes(init::he_normal)},
      {"kaiming_uniform", of_axes(init::he_uniform)},
      {"variance_scaling", variance_scaling_from},
      {"orthogonal", of_columns(init::orthogonal)},
      {"delta_orthogonal", of_columns(init::delta_orthogonal)},
  };
  const auto found = makers.find(name);
  if (found == makers.end()) throw Skip("initializer " + name);
  return found->second(arguments);
}

void run_seed(const Json& entry, const Json& tolerance, GoldenRun& run) {
  const std::int64_t seed = entry.at("seed");
  const RandomKey key = random::key(seed);
  for (const auto& [name, expected] : entry.items()) {
    if (name == "seed") continue;
    run.run("random/seed " + std::to_string(seed) + "/" + name, [&, &what = name, &value = expected] {
      if (what == "key") {
        require_equal(to_json(key), value, what);
      } else if (what == "fold_in") {
        for (const Json& pair : value) require_equal(to_json(random::fold_in(key, pair.at(0))), pair.at(1), what);
      } else if (what == "rngs") {
        run_streams(seed, value);
      } else if (what == "dropout") {
        run_dropout(seed, value);
      } else if (what == "reseed") {
        run_reseed(seed, value);
      } else {
        run_sample(what, key, value, tolerance);
      }
    });
  }
}

}  // namespace

void run_random_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json manifest = support::load_json(dir / "random.json");
  const Json& tolerance = manifest.at("tolerance");
  for (const Json& entry : manifest.at("seeds")) run_seed(entry, tolerance, run);
  for (const Json& entry : manifest.at("initializers")) {
    const std::string name = entry.at("initializer");
    const Shape shape = support::shape_from(entry.at("shape"));
    run.run("random/" + name + entry.at("arguments").dump() + to_string(shape), [&] {
      const Initializer init = initializer_from(name, entry.at("arguments"));
      const Tensor actual = init(random::key(entry.at("seed")), shape).reshape({-1});
      require_close(actual, floats(entry.at("values")), support::within(tolerance.at("initializers")), "values");
    });
  }
}

}  // namespace strata::golden
