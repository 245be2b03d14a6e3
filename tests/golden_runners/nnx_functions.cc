// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "golden_runners/nnx_cases.h"
#include "strata/nn/activations.h"
#include "strata/nn/losses.h"
#include "strata/tensor/create.h"
#include "strata/tensor/gradient.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require_close;
using support::Skip;

using Arrays = std::map<std::string, Tensor>;

support::Tolerance tolerance(const Json& json, const char* group) {
  return support::within_larger(json.at("tolerance").at(group));
}

using Function = std::function<Tensor(const Tensor& x, const Json& arguments)>;

Function plain(Tensor (*f)(const Tensor&)) {
  return [f](const Tensor& x, const Json&) { return f(x); };
}

const std::map<std::string, Function> functions{
    {"relu", plain(nn::relu)},
    {"relu6", plain(nn::relu6)},
    {"sigmoid", plain(nn::sigmoid)},
    {"hard_sigmoid", plain(nn::hard_sigmoid)},
    {"tanh", plain(nn::tanh)},
    {"hard_tanh", plain(nn::hard_tanh)},
    {"silu", plain(nn::silu)},
    {"swish", plain(nn::silu)},
    {"hard_silu", plain(nn::hard_silu)},
    {"hard_swish", plain(nn::hard_silu)},
    {"selu", plain(nn::selu)},
    {"softplus", plain(nn::softplus)},
    {"soft_sign", plain(nn::soft_sign)},
    {"log_sigmoid", plain(nn::log_sigmoid)},
    {"identity", plain(nn::identity)},
    {"gelu",
     [](const Tensor& x, const Json& a) { return a.value("approximate", true) ? nn::gelu(x) : nn::exact_gelu(x); }},
    {"elu", [](const Tensor& x, const Json& a) { return nn::elu(x, a.value("alpha", 1.0)); }},
    {"celu", [](const Tensor& x, const Json& a) { return nn::celu(x, a.value("alpha", 1.0)); }},
    {"leaky_relu", [](const Tensor& x, const Json& a) { return nn::leaky_relu(x, a.value("negative_slope", 0.01)); }},
    {"softmax", [](const Tensor& x, const Json& a) { return nn::softmax(x, a.value("axis", -1)); }},
    {"log_softmax", [](const Tensor& x, const Json& a) { return nn::log_softmax(x, a.value("axis", -1)); }},
    {"logsumexp",
     [](const Tensor& x, const Json& a) {
       return a.contains("axis") ? nn::logsumexp(x, a.at("axis").get<int>()) : nn::logsumexp(x);
     }},
    {"glu", [](const Tensor& x, const Json& a) { return nn::glu(x, a.value("axis", -1)); }},
    {"standardize",
     [](const Tensor& x, const Json& a) { return nn::standardize(x, a.value("axis", -1), a.value("epsilon", 1e-5)); }},
};

void run_function(const Json& json, const Tensor& x, const Tensor* cotangent, const Arrays& arrays) {
  const auto found = functions.find(json.at("function").get<std::string>());
  if (found == functions.end()) throw Skip("function " + json.at("function").get<std::string>());
  const std::string array = json.at("array");
  GradientTape tape;
  const Tensor watched = tape.watch(x);
  const Tensor y = found->second(watched, json.at("arguments"));
  require_close(y, arrays.at(array + "/out"), tolerance(json, "out"), "out");
  const Tensor ct = cotangent != nullptr ? *cotangent : ones_like(y);
  const Tensor gradient = tape.gradient({&y, 1}, {&ct, 1}, {&watched, 1})[0];
  require_close(gradient, arrays.at(array + "/grad"), tolerance(json, "grad"), "grad");
}

using Loss = std::function<Tensor(const Tensor& predictions, const Tensor& targets, const Json& arguments)>;

constexpr nn::LossOptions each{.reduction = nn::Reduction::none};

Loss plain(Tensor (*f)(const Tensor&, const Tensor&, nn::LossOptions)) {
  return [f](const Tensor& predictions, const Tensor& targets, const Json&) { return f(predictions, targets, each); };
}

Tensor softmax_loss(const Tensor& logits, const Tensor& labels, const Json& a) {
  return nn::softmax_cross_entropy(logits, labels, {.axis = a.value("axis", -1), .reduction = nn::Reduction::none});
}

Tensor focal_loss(const Tensor& logits, const Tensor& labels, const Json& a) {
  nn::FocalLossOptions options{.gamma = a.value("gamma", 2.0), .reduction = nn::Reduction::none};
  if (a.contains("alpha")) options.alpha = a.at("alpha").get<double>();
  return nn::sigmoid_focal_loss(logits, labels, options);
}

const std::map<std::string, Loss> losses{
    {"softmax_cross_entropy", softmax_loss},
    {"softmax_cross_entropy_with_integer_labels", softmax_loss},
    {"sigmoid_binary_cross_entropy", plain(nn::sigmoid_binary_cross_entropy)},
    {"sigmoid_focal_loss", focal_loss},
    {"squared_error", plain(nn::squared_error)},
    {"l2_loss", plain(nn::l2_loss)},
    {"log_cosh", plain(nn::log_cosh)},
    {"hinge_loss", plain(nn::hinge_loss)},
    {"huber_loss",
     [](const Tensor& predictions, const Tensor& targets, const Json& a) {
       return nn::huber_loss(predictions, targets, {.delta = a.value("delta", 1.0), .reduction = nn::Reduction::none});
     }},
    {"cosine_similarity",
     [](const Tensor& predictions, const Tensor& targets, const Json& a) {
       return nn::cosine_similarity(predictions, targets,
                                    {.axis = a.value("axis", -1), .epsilon = a.value("epsilon", 0.0)});
     }},
};

void run_loss(const Json& json, const Arrays& arrays) {
  const auto found = losses.find(json.at("function").get<std::string>());
  if (found == losses.end()) throw Skip("loss " + json.at("function").get<std::string>());
  const std::string name = json.at("name");
  std::vector<Tensor> inputs;
  for (const Json& input : json.at("inputs")) inputs.push_back(arrays.at(name + "/in/" + input.get<std::string>()));
  GradientTape tape;
  const Tensor watched = tape.watch(inputs.at(0));
  const Tensor loss = found->second(watched, inputs.at(1), json.at("arguments"));
  require_close(loss, arrays.at(name + "/out"), tolerance(json, "out"), "out");
  const Tensor ct = ones_like(loss);
  const Tensor gradient = tape.gradient({&loss, 1}, {&ct, 1}, {&watched, 1})[0];
  require_close(gradient, arrays.at(name + "/grad/" + json.at("gradient_in").get<std::string>()),
                tolerance(json, "grad"), "grad");
}

}  // namespace

void run_function_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json manifest = support::load_json(dir / "functions.json");
  const Arrays arrays = support::load_safetensors(dir / "functions.safetensors");
  const auto title = [](const Json& json) {
    return "functions/" + json.at("function").get<std::string>() + json.at("arguments").dump();
  };
  for (const Json& json : manifest.at("activations")) {
    run.run(title(json), [&] { run_function(json, arrays.at("grid"), nullptr, arrays); });
  }
  for (const Json& json : manifest.at("axis_functions")) {
    run.run(title(json), [&] {
      run_function(json, arrays.at("axis/x"), &arrays.at(json.at("array").get<std::string>() + "/ct"), arrays);
    });
  }
  for (const Json& json : manifest.at("losses")) {
    run.run("functions/" + json.at("name").get<std::string>(), [&] { run_loss(json, arrays); });
  }
}

}  // namespace strata::golden
