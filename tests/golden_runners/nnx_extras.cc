// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_cases.h"
#include "strata/nn/batch_norm.h"
#include "strata/nn/capture.h"
#include "strata/nn/ensemble.h"
#include "strata/nn/linear.h"
#include "strata/nn/mode.h"
#include "strata/nn/repeat.h"
#include "strata/nn/sequential.h"
#include "strata/optim/ema.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require_close;
using support::within;
using Arrays = std::map<std::string, Tensor>;
using Net = nn::Sequential<nn::Linear, nn::BatchNorm, decltype(&relu), nn::Linear>;

struct Perturbed {
  Tensor operator()(const Tensor& input) {
    Tensor x = nn::perturb(*this, "after_a", tanh(a(input)));
    for (int i = 0; i < 2; ++i) {
      x = nn::perturb(*this, "after_b", tanh(b(x)));
      nn::sow(*this, "values", x);
    }
    nn::sow(*this, "total", sum(x), [](const Tensor& so_far, const Tensor& next) { return so_far + next; });
    return mean(x * x);
  }

  nn::Linear a, b;
  STRATA_FIELDS(a, b)
};

class ExtrasTest {
 public:
  ExtrasTest(const Json& file, const Arrays& arrays) : file_(file), arrays_(arrays) {}

  void run(GoldenRun& run) {
    run.run("extras/ensemble/train_shared_input", [&] { check_training_mode(); });
    run.run("extras/ensemble/eval_own_inputs", [&] { check_evaluation_mode(); });
    run.run("extras/ensemble/grad", [&] { check_gradients(); });
    run.run("extras/ensemble/eval_shared_stats", [&] { check_shared_statistics(); });
    run.run("extras/scan", [&] { check_repeat(); });
    run.run("extras/capture", [&] { check_capture(); });
    run.run("extras/ema", [&] { check_average(); });
  }

 private:
  [[nodiscard]] Index size(const char* name) const { return file_.at("sizes").at(name); }
  [[nodiscard]] const Tensor& array(const std::string& name) const { return arrays_.at(name); }

  void compare(const Tensor& actual, const std::string& name) {
    require_close(actual, array(name), within(file_.at("tolerance").at(name)), name);
  }
  void compare(const State& state, const std::string& prefix) {
    for (const auto& [path, variable] : state) compare(variable, prefix + to_string(path));
  }

  [[nodiscard]] State initial(const std::string& prefix) const {
    State state;
    for (const auto& [name, value] : arrays_) {
      if (name.starts_with(prefix)) state.set(Path::parse(name.substr(prefix.size())), Variable(value));
    }
    return state;
  }

  nn::Ensemble<Net> ensemble() {
    Rngs rngs(0);
    nn::Ensemble<Net> made(size("members"), rngs, [&](Rngs& r) {
      return Net{nn::Linear{size("in"), size("hidden"), r, {.use_bias = false}},
                 nn::BatchNorm{size("hidden"), r, {.momentum = 0.8}}, &relu,
                 nn::Linear{size("hidden"), size("out"), r}};
    });
    nn::update(made, initial("ensemble/init/"));
    return made;
  }

  void check_training_mode() {
    nn::Ensemble<Net> model = ensemble();
    compare(model(array("ensemble/x")), "ensemble/train_shared_input");
    compare(nn::state(model, of_type<BatchStat>), "ensemble/after/");
  }

  void check_evaluation_mode() {
    nn::Ensemble<Net> model = ensemble();
    nn::eval(model);
    compare(model(nn::mapped(array("ensemble/xs"))), "ensemble/eval_own_inputs");
  }

  void check_gradients() {
    const auto loss = [](Net& net, const Tensor& x) {
      const Tensor y = net(x);
      return mean(y * y);
    };
    nn::Ensemble<Net> model = ensemble();
    const nn::Mapped xs = nn::mapped(array("ensemble/xs"));
    compare(model.map(nn::grad(loss, of_type<Param>), xs), "ensemble/grad/");
    model = ensemble();
    const auto of_sum = [&](nn::Ensemble<Net>& m) { return sum(m.map(loss, xs)); };
    compare(nn::grad(of_sum, of_type<Param>)(model), "ensemble/grad/");
  }

  void check_shared_statistics() {
    const nn::Ensemble<Net> separate = ensemble();
    const State first = nn::state(separate.member(0), of_type<BatchStat>);
    std::vector<Net> members;
    for (Index i = 0; i < separate.size(); ++i) {
      members.push_back(separate.member(i));
      nn::update(members.back(), first);
    }
    nn::Ensemble<Net> model(members, {{of_type<BatchStat>, nn::shared}, {rest, 0}});
    nn::eval(model);
    compare(model(nn::mapped(array("ensemble/xs"))), "ensemble/eval_shared_stats");
  }

  void check_repeat() {
    Rngs rngs(0);
    nn::Repeat layers(size("members") + 1, rngs, [&](Rngs& r) { return nn::Linear{size("in"), size("in"), r}; });
    nn::update(layers, initial("scan/init/"));
    const auto run_layers = [&](nn::Repeat<nn::Linear>& m) {
      return m.fold([](nn::Linear& layer, const Tensor& x) { return tanh(layer(x)); }, array("scan/x"));
    };
    compare(run_layers(layers), "scan/out");
    const auto loss = [&](nn::Repeat<nn::Linear>& m) { return sum(run_layers(m) * array("scan/ct")); };
    compare(nn::grad(loss, of_type<Param>)(layers), "scan/grad/");
  }

  void check_capture() {
    Rngs rngs(0);
    Perturbed net{nn::Linear{size("in"), size("hidden"), rngs}, nn::Linear{size("hidden"), size("hidden"), rngs}};
    nn::update(net, initial("capture/init/"));
    const auto run_net = [&](Perturbed& m) { return m(array("capture/x")); };
    const auto [out, captured] = nn::capture(net, run_net);
    compare(out, "capture/out");
    compare(filter(captured, of_type<Intermediate> && !of_type<Perturbation>), "capture/");
    const State grads = nn::grad(run_net, nothing, {.perturbations = everything})(net);
    support::require(grads.size() == 2, "there are two perturbations");
    compare(grads, "capture/perturbation_grad/");
  }

  void check_average() {
    std::map<std::string, Param> model{{"w", Param(array("ema/start"))}};
    optim::EMA ema(model, 0.9, of_type<Param>);
    const Tensor& values = array("ema/new");
    std::vector<Tensor> averages;
    for (Index i = 0; i < values.shape()[0]; ++i) {
      model.at("w").set_value(values[i]);
      ema.update(model);
      averages.push_back(ema.state().at({"w"}));
    }
    compare(stack(averages, 0), "ema/after");
  }

  const Json& file_;
  const Arrays& arrays_;
};

}  // namespace

void run_extra_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json file = support::load_json(dir / "extras.json");
  const Arrays arrays = support::load_safetensors(dir / "extras.safetensors");
  ExtrasTest(file, arrays).run(run);
}

}  // namespace strata::golden
