// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/random.h"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden_runners/random_init.h"
#include "strata/nn/dropout.h"
#include "strata/state/rngs.h"
#include "strata/tensor/create.h"
#include "support/golden_runner.h"
#include "support/json.h"
#include "support/safetensors.h"

namespace strata::golden {
namespace {

using support::exactly;
using support::GoldenRun;
using support::Json;
using support::Skip;
using support::Tolerance;

// Numbers that went through a logarithm or the inverse error function, on whatever CPU the data were made.
constexpr Tolerance transcendental = support::within_ulps(2);
constexpr Tolerance factorized = support::within(1e-5);

Tensor tensor_of(const std::vector<RandomKey>& keys) {
  std::vector<std::uint32_t> words;
  for (const RandomKey key : keys) words.insert(words.end(), {key.high, key.low});
  return tensor(words, Shape{static_cast<Index>(keys.size()), 2});
}

Tensor tensor_of(RandomKey key) { return tensor_of(std::vector{key}).reshape({2}); }

// Streams that live from case to case: a draw depends on those before it.
class Streams {
 public:
  RandomKey draw(const Json& entry) {
    const std::string seeds = entry.at("seed").dump() + entry.at("streams").dump();
    auto found = streams_.find(seeds);
    if (found == streams_.end()) found = streams_.emplace(seeds, make(entry)).first;
    return found->second.draw(entry.at("stream").get<std::string>());
  }

 private:
  static Rngs make(const Json& entry) {
    auto named = entry.at("streams").get<std::map<std::string, std::int64_t>>();
    named.emplace("default", entry.at("seed").get<std::int64_t>());
    return Rngs(named);
  }

  std::map<std::string, Rngs> streams_;
};

struct Result {
  Tensor value;
  Tolerance tolerance = exactly;
};

using Run = std::function<Result(const Json& entry, RandomKey key, const Shape& shape)>;

DType dtype_of_bits(int bits) { return dtype_from_name("uint" + std::to_string(bits)); }

// u = (x - low) / (high - low) is exact; the last multiply-add may be fused or not.
Result run_uniform(const Json& entry, RandomKey key, const Shape& shape) {
  const double low = entry.at("low");
  const double high = entry.at("high");
  const auto range = static_cast<float>(high - low);
  const double ulp = std::nextafter(range, INFINITY) - range;
  return {random::uniform(key, shape, low, high), low == 0 && high == 1 ? exactly : support::within(2 * ulp)};
}

Result run_categorical(const Json& entry, RandomKey key, const Shape& shape) {
  std::vector<float> logits;
  for (const float p : entry.at("probs").get<std::vector<float>>()) logits.push_back(std::log(p));
  return {random::categorical(key, tensor(logits, Shape{static_cast<Index>(logits.size())}), shape)};
}

Result run_dropout(const Json& entry, RandomKey, const Shape& shape) {
  Rngs rngs(entry.at("seed").get<std::int64_t>());
  nn::Dropout dropout(entry.at("rate"), rngs);
  return {dropout(ones(shape)), support::within_ulps(1)};
}

// Recurrent kernels are orthogonal.
Result run_init(const Json& entry) {
  const std::string module = entry.at("module");
  std::string path;
  for (const std::string key : entry.at("path")) path += (path.empty() ? "" : "/") + key;
  const Variable variable = initial_state(module).at(Path::parse(path));
  support::require(variable.kind().name == entry.at("variable").get<std::string>(),
                   "the kind is " + std::string(variable.kind().name));
  return {variable.value(), module.find("Cell(") == std::string::npos ? transcendental : factorized};
}

std::map<std::string, Run> make_operations(Streams& streams) {
  return {
      {"key", [](const Json& e, RandomKey, const Shape&) -> Result { return {tensor_of(random::key(e.at("seed")))}; }},
      {"fold_in",
       [](const Json& e, RandomKey key, const Shape&) -> Result {
         return {tensor_of(random::fold_in(key, e.at("data")))};
       }},
      {"split",
       [](const Json& e, RandomKey key, const Shape&) -> Result {
         return {tensor_of(random::split(key, e.at("num")))};
       }},
      {"bits",
       [](const Json& e, RandomKey key, const Shape& shape) -> Result {
         return {random::bits(key, shape, dtype_of_bits(e.at("bits")))};
       }},
      {"uniform", run_uniform},
      {"normal",
       [](const Json&, RandomKey key, const Shape& shape) -> Result {
         return {random::normal(key, shape), transcendental};
       }},
      {"truncated_normal",
       [](const Json& e, RandomKey key, const Shape& shape) -> Result {
         return {random::truncated_normal(key, shape, e.at("low"), e.at("high")), transcendental};
       }},
      {"gumbel",
       [](const Json&, RandomKey key, const Shape& shape) -> Result {
         return {random::gumbel(key, shape), transcendental};
       }},
      {"exponential",
       [](const Json&, RandomKey key, const Shape& shape) -> Result {
         return {random::exponential(key, shape), transcendental};
       }},
      {"bernoulli",
       [](const Json& e, RandomKey key, const Shape& shape) -> Result {
         return {random::bernoulli(key, shape, e.at("p"))};
       }},
      {"randint",
       [](const Json& e, RandomKey key, const Shape& shape) -> Result {
         return {random::randint(key, shape, e.at("low"), e.at("high"))};
       }},
      {"permutation",
       [](const Json& e, RandomKey key, const Shape&) -> Result { return {random::permutation(key, e.at("n"))}; }},
      {"categorical", run_categorical},
      {"orthogonal",
       [](const Json& e, RandomKey key, const Shape&) -> Result {
         return {random::orthogonal(key, e.at("n"), e.at("n")), factorized};
       }},
      {"rngs_draw",
       [&streams](const Json& e, RandomKey, const Shape&) -> Result { return {tensor_of(streams.draw(e))}; }},
      {"rngs_fork",
       [](const Json& e, RandomKey, const Shape&) -> Result {
         Rngs rngs(e.at("seed").get<std::int64_t>());
         return {tensor_of(random::split(rngs.draw("default"), e.at("split")))};
       }},
      {"init", [](const Json& e, RandomKey, const Shape&) { return run_init(e); }},
      {"dropout", run_dropout},
  };
}

void run_cases(const std::filesystem::path& dir, GoldenRun& run) {
  const Json manifest = support::load_json(dir / "random.json");
  const std::map<std::string, Tensor> arrays = support::load_safetensors(dir / "random.safetensors");
  Streams streams;
  const std::map<std::string, Run> operations = make_operations(streams);
  for (const Json& entry : manifest.at("cases")) {
    run.run(entry.at("name"), [&] {
      const auto operation = operations.find(entry.at("op"));
      if (operation == operations.end()) throw Skip("operation " + entry.at("op").dump());
      const RandomKey key = random::key(entry.value("key_seed", std::int64_t{0}));
      const Shape shape = entry.contains("shape") ? support::shape_from(entry.at("shape")) : Shape{};
      const Result result = operation->second(entry, key, shape);
      // NumPy wrote scalars as arrays of one element.
      const Tensor& stored = arrays.at(entry.at("name"));
      const Tensor expected = result.value.rank() == 0 ? stored.reshape(Shape{}) : stored;
      support::require_close(result.value, expected, result.tolerance, "result");
    });
  }
}

}  // namespace
}  // namespace strata::golden

int main(int argc, char** argv) {
  return strata::support::golden_main(argc, argv, "random", strata::golden::run_cases);
}
