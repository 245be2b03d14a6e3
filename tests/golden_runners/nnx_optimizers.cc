// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_optimizers.h"

#include "golden_runners/nnx_cases.h"
#include "strata/optim/optimizer.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using Arrays = std::map<std::string, Tensor>;

std::optional<double> number_or_none(const Json& settings, const char* name) {
  return settings.contains(name) && !settings.at(name).is_null() ? std::optional(settings.at(name).get<double>())
                                                                 : std::nullopt;
}

optim::Transformation parse_link(const Json& link) {
  const std::string op = link.at("op");
  const double lr = link.value("learning_rate", 0.0);
  if (op == "clip_by_global_norm") return optim::clip_by_global_norm(link.at("max_norm"));
  if (op == "sgd")
    return optim::sgd(lr, {.momentum = number_or_none(link, "momentum"), .nesterov = link.value("nesterov", false)});
  if (op == "adam") {
    const optim::AdamOptions d;
    return optim::adam(lr, {.b1 = link.value("b1", d.b1),
                            .b2 = link.value("b2", d.b2),
                            .eps = link.value("eps", d.eps),
                            .eps_root = link.value("eps_root", d.eps_root),
                            .nesterov = link.value("nesterov", d.nesterov)});
  }
  if (op == "adamw") {
    const optim::AdamWOptions d;
    return optim::adamw(lr, {.b1 = link.value("b1", d.b1),
                             .b2 = link.value("b2", d.b2),
                             .eps = link.value("eps", d.eps),
                             .eps_root = link.value("eps_root", d.eps_root),
                             .weight_decay = link.value("weight_decay", d.weight_decay),
                             .nesterov = link.value("nesterov", d.nesterov)});
  }
  if (op == "rmsprop") {
    const optim::RMSPropOptions d;
    return optim::rmsprop(lr, {.decay = link.value("decay", d.decay),
                               .eps = link.value("eps", d.eps),
                               .initial_scale = link.value("initial_scale", d.initial_scale),
                               .eps_in_sqrt = link.value("eps_in_sqrt", d.eps_in_sqrt),
                               .centered = link.value("centered", d.centered),
                               .momentum = number_or_none(link, "momentum"),
                               .nesterov = link.value("nesterov", d.nesterov),
                               .bias_correction = link.value("bias_correction", d.bias_correction)});
  }
  if (op == "adagrad") {
    const optim::AdagradOptions d;
    return optim::adagrad(
        lr, {.initial_accumulator_value = link.value("initial_accumulator_value", d.initial_accumulator_value),
             .eps = link.value("eps", d.eps)});
  }
  if (op == "lion") {
    const optim::LionOptions d;
    return optim::lion(lr, {.b1 = link.value("b1", d.b1),
                            .b2 = link.value("b2", d.b2),
                            .weight_decay = link.value("weight_decay", d.weight_decay)});
  }
  throw support::Skip("optimizer " + op);
}

void run_optimizer(const Json& test, const Json& file, const Arrays& arrays) {
  const std::string name = test.at("name");
  std::map<std::string, Param> params;
  for (const Json& parameter : file.at("parameters")) {
    const std::string key = parameter;
    params.emplace(key, Param(arrays.at("params/" + key)));
  }
  optim::Optimizer optimizer(params, parse_chain(test.at("chain")), of_type<Param>);
  for (int step = 1; step <= file.at("steps").get<int>(); ++step) {
    State gradients;
    const std::string number = std::to_string(step);
    for (const auto& [key, param] : params) gradients.set({key}, Param(arrays.at("grads/" + number + "/" + key)));
    optimizer.update(params, gradients);
    for (const auto& [key, param] : params) {
      const std::string array = name + "/" + number + "/" + key;
      support::require_close(param, arrays.at(array), support::within(test.at("tolerance")), array);
    }
  }
}

}  // namespace

optim::Transformation parse_chain(const Json& chain) {
  std::vector<optim::Transformation> links;
  for (const Json& link : chain) links.push_back(parse_link(link));
  return links.size() == 1 ? links.front() : optim::chain(links);
}

void run_optimizer_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json file = support::load_json(dir / "optimizers.json");
  const Arrays arrays = support::load_safetensors(dir / "optimizers.safetensors");
  for (const Json& test : file.at("cases")) {
    run.run("optimizers/" + test.at("name").get<std::string>(), [&] { run_optimizer(test, file, arrays); });
  }
}

}  // namespace strata::golden
