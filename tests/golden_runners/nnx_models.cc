// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_cases.h"
#include "golden_runners/nnx_optimizers.h"
#include "golden_runners/nnx_parse.h"
#include "strata/nn/batch_norm.h"
#include "strata/nn/dropout.h"
#include "strata/nn/embed.h"
#include "strata/nn/layer_norm.h"
#include "strata/nn/linear.h"
#include "strata/nn/losses.h"
#include "strata/nn/mode.h"
#include "strata/nn/value_and_grad.h"
#include "strata/optim/optimizer.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/index.h"
#include "strata/tensor/reduce.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::GoldenRun;
using support::Json;
using support::require;
using support::require_close;
using support::within;
using Arrays = std::map<std::string, Tensor>;

// One row of every input; names are those of the file.
struct Batch {
  Tensor x;
  Tensor y;
  Tensor length;  // of the sequences, where there are any
};

struct MLP {
  nn::Linear l1;
  nn::BatchNorm bn;
  nn::Dropout drop;
  nn::Linear l2;

  explicit MLP(Rngs& rngs)
      : l1{6, 10, rngs, {.use_bias = false}}, bn{10, rngs, {.momentum = 0.9}}, drop{0.25}, l2{10, 3, rngs} {}

  Tensor operator()(const Batch& batch) {
    drop.deterministic = true;  // the data were made with dropout off
    return l2(drop(relu(bn(l1(batch.x)))));
  }
  Tensor loss(const Batch& batch) { return nn::softmax_cross_entropy((*this)(batch), batch.y); }

  STRATA_FIELDS(l1, bn, drop, l2)
};

struct LSTMClassifier {
  nn::Embed embed;
  recurrent::RNN<recurrent::LSTMCell> rnn;
  nn::Linear head;

  explicit LSTMClassifier(Rngs& rngs) : embed{12, 5, rngs}, rnn{recurrent::LSTMCell{5, 6, rngs}}, head{6, 3, rngs} {}

  // The carry after the last valid step is the output there.
  Tensor operator()(const Batch& batch) {
    return head(rnn.scan(embed(batch.x), {.seq_lengths = batch.length}).carry.h);
  }
  Tensor loss(const Batch& batch) { return nn::softmax_cross_entropy((*this)(batch), batch.y); }

  STRATA_FIELDS(embed, rnn, head)
};

struct NestedShared {
  struct Block {
    std::shared_ptr<nn::Linear> mix;
    nn::LayerNorm norm;

    explicit Block(Rngs& rngs) : mix(std::make_shared<nn::Linear>(3, 3, rngs)), norm{3, rngs} {}
    STRATA_FIELDS(mix, norm)
  };
  struct Head {
    std::tuple<std::shared_ptr<nn::Linear>, int, nn::Linear> layers;  // position 1 is tanh
    STRATA_FIELDS(layers)
  };
  struct Stats {
    BatchStat ema{Tensor::uninitialized({3}, DType::float32)};
    STRATA_FIELDS(ema)
  };

  std::vector<std::shared_ptr<Block>> blocks;
  Head head;
  Stats stats;
  Param temperature{scalar(1.0F), tagged("frozen")};

  explicit NestedShared(Rngs& rngs) : blocks(make_blocks(rngs)), head{{blocks[0]->mix, 0, nn::Linear{3, 2, rngs}}} {}

  static std::vector<std::shared_ptr<Block>> make_blocks(Rngs& rngs) {
    std::vector<std::shared_ptr<Block>> made;
    for (int i = 0; i < 10; ++i) made.push_back(std::make_shared<Block>(rngs));
    made.push_back(made[2]);
    return made;
  }

  Tensor operator()(const Batch& batch) {
    Tensor x = batch.x;
    for (const auto& block : blocks) x = x + tanh((*block->mix)(block->norm(x))) / 2.0;
    stats.ema.set_value(stop_gradient(stats.ema.value() * 0.75 + mean(x, {0}) * 0.25));
    return std::get<2>(head.layers)(tanh((*std::get<0>(head.layers))(x))) * temperature;
  }
  Tensor loss(const Batch& batch) { return nn::l2_loss((*this)(batch), batch.y); }

  STRATA_FIELDS(blocks, head, stats, temperature)
};

// One file's model, put to every test that the file has.
template <class M>
class ModelTest {
 public:
  ModelTest(const Json& file, const Arrays& arrays)
      : file_(file), arrays_(arrays), wrt_(parse_filter(file.at("wrt"), kinds_)) {}

  void run(const std::string& name, GoldenRun& run) {
    run.run(name + "/state", [&] { check_state(); });
    run.run(name + "/forward", [&] { check_forward(); });
    run.run(name + "/gradients", [&] { check_gradients(); });
    for (const auto& [optimizer, chain] : file_.at("optimizers").items()) {
      run.run(name + "/" + optimizer,
              [&, &optimizer = optimizer, &chain = chain] { check_training(optimizer, chain); });
    }
  }

 private:
  M start() {
    Rngs rngs(0);
    M model(rngs);
    State state;
    for (const auto& [name, value] : arrays_) {
      if (name.starts_with("init/")) state.set(Path::parse(name.substr(5)), Variable(value));
    }
    nn::update(model, state);
    nn::train(model);
    return model;
  }

  Batch batch(Index row) {
    const auto input = [&](const char* name) {
      const auto found = arrays_.find("batch/" + std::string(name));
      return found == arrays_.end() ? Tensor() : found->second[row];
    };
    return {.x = input("x"), .y = input("y"), .length = input("length")};
  }

  double tolerance(const std::string& group) { return file_.at("tolerance").at(group); }

  void compare(const State& state, const std::string& prefix, double bound) {
    for (const auto& [path, variable] : state) {
      const std::string name = prefix + to_string(path);
      if (arrays_.contains(name)) require_close(variable, arrays_.at(name), within(bound), name);
    }
  }

  void check_state() {
    Json actual = Json::array();
    for (const auto& [path, variable] : nn::state(start())) {
      const Shape& shape = variable.value().shape();
      Json leaf{{"path", to_json(path)},
                {"type", variable.kind().name},
                {"shape", std::vector<Index>(shape.begin(), shape.end())}};
      if (variable.tag() != nullptr) leaf["metadata"] = {{"tag", *variable.tag()}};
      leaf["dtype"] = name(variable.value().dtype());
      actual.push_back(std::move(leaf));
    }
    // The order of the members of an object does not matter. Streams that Flax's RNN keeps are not kept here.
    Json expected = Json::array();
    for (const Json& leaf : file_.at("leaves")) {
      if (!leaf.at("type").get<std::string>().starts_with("Rng")) expected.push_back(leaf);
    }
    require(nlohmann::json(actual) == nlohmann::json(expected),
            "state " + actual.dump() + ", expected " + expected.dump());
  }

  void check_forward() {
    M model = start();
    nn::eval(model);
    require_close(model(batch(0)), arrays_.at("out/eval"), within(tolerance("out")), "out/eval");
    model = start();
    require_close(model(batch(0)), arrays_.at("out/train"), within(tolerance("out")), "out/train");
    if (file_.at("tolerance").contains("after_forward")) {
      compare(nn::state(model), "after_forward/", tolerance("after_forward"));
    }
  }

  void check_gradients() {
    M model = start();
    const auto [loss, grads] = step_(model, batch(0));
    require_close(loss, scalar(file_.at("loss").get<double>()), within(tolerance("losses")), "loss");
    Json paths = Json::array();
    for (const auto& [path, variable] : grads) paths.push_back(to_json(path));
    require(paths == file_.at("grad_paths"), "gradients of " + paths.dump());
    compare(grads, "grad/", tolerance("grad"));
  }

  void check_training(const std::string& optimizer_name, const Json& chain) {
    M model = start();
    optim::Optimizer optimizer(model, parse_chain(chain), wrt_);
    check_optimizer_state(optimizer, optimizer_name);
    const Json& losses = file_.at("losses").at(optimizer_name);
    for (std::size_t step = 0; step < losses.size(); ++step) {
      const auto [loss, grads] = step_(model, batch(static_cast<Index>(step)));
      require_close(loss, scalar(losses[step].get<double>()), within(tolerance("losses")),
                    "loss of step " + std::to_string(step));
      optimizer.update(model, grads);
      const std::string group = optimizer_name + "/step" + std::to_string(step + 1);
      if (file_.at("tolerance").contains(group)) compare(nn::state(model, wrt_), group + "/", tolerance(group));
      if (optimizer_name == "sgd" && file_.at("tolerance").contains("batch_stats")) {
        compare(nn::state(model), "batch_stats/step" + std::to_string(step + 1) + "/", tolerance("batch_stats"));
      }
    }
  }

  void check_optimizer_state(const optim::Optimizer& optimizer, const std::string& optimizer_name) {
    if (!file_.at("opt_state").contains(optimizer_name)) return;
    Json actual = Json::array();
    for (const auto& [path, variable] : optimizer.state()) {
      const Shape& shape = variable.value().shape();
      actual.push_back(
          Json::array({to_string(path), variable.kind().name, std::vector<Index>(shape.begin(), shape.end())}));
    }
    require(actual == file_.at("opt_state").at(optimizer_name), "state of the optimizer " + actual.dump());
  }

  const Json& file_;
  const Arrays& arrays_;
  Kinds kinds_{Json{{"Variable", nullptr}, {"Param", "Variable"}, {"LoRAParam", "Param"}, {"BatchStat", "Variable"}}};
  Filter wrt_;
  decltype(nn::value_and_grad(&M::loss, Filter(nothing))) step_ = nn::value_and_grad(&M::loss, wrt_);
};

}  // namespace

void run_model_cases(const std::filesystem::path& dir, GoldenRun& run) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir / "models")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& path : files) {
    const Json file = support::load_json(path);
    const Arrays arrays = support::load_safetensors(std::filesystem::path(path).replace_extension(".safetensors"));
    const std::string model = file.at("name");
    const std::string name = "models/" + model;
    if (model == "mlp_bn_dropout") {
      ModelTest<MLP>(file, arrays).run(name, run);
    } else if (model == "lstm_classifier") {
      ModelTest<LSTMClassifier>(file, arrays).run(name, run);
    } else if (model == "nested_shared") {
      ModelTest<NestedShared>(file, arrays).run(name, run);
    } else {
      run.run(name, [&] { throw support::Skip("model " + model); });
    }
  }
}

}  // namespace strata::golden
