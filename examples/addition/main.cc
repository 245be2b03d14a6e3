// SPDX-License-Identifier: Apache-2.0
//
// Learns to add: an encoder reads "12+345", a decoder writes the answer, digit by digit.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "adder.h"

namespace {

using addition::Adder, addition::Part, addition::Sums;
using strata::Index, strata::Tensor;
namespace nn = strata::nn;

struct Options {
  int digits = 3;
  Index hidden = 128;
  Index batch_size = 128;
  int steps = 6000;
  double learning_rate = 3e-3;
  Index beams = 4;
  std::int64_t seed = 0;
  int threads = 0;
};

// The share of answers in which every token is right.
double share_right(const Tensor& written, const Sums& sums) {
  const Tensor steps = strata::slice_axis(sums.answers, 1, 0, written.size(1));
  return strata::mean(strata::all(strata::equal(written, steps), -1).astype(strata::DType::float64)).item<double>();
}

void train(Adder& model, const Options& options) {
  const auto schedule = strata::optim::cosine_decay(options.learning_rate, options.steps);
  const auto transformation =
      strata::optim::chain(strata::optim::clip_by_global_norm(1), strata::optim::adam(schedule));
  strata::optim::Optimizer optimizer(model, transformation, strata::of_type<strata::Param>);
  const auto step = nn::value_and_grad(
      [](Adder& m, const Sums& sums) { return nn::softmax_cross_entropy(m.forced(sums), sums.answers); },
      strata::of_type<strata::Param>);
  strata::RngStream random("sums", strata::random::key(options.seed));
  double loss = 0;
  for (int i = 1; i <= options.steps; ++i) {
    const auto [value, grads] =
        step(model, addition::draw_sums(options.batch_size, options.digits, Part::train, random));
    optimizer.update(model, grads);
    loss += value.item<double>();
    if (i % 250 == 0 || i == options.steps) {
      fmt::print("step {:5}  loss {:6.4f}\n", i, loss / (i % 250 == 0 ? 250 : i % 250));
      std::fflush(stdout);
      loss = 0;
    }
  }
}

void run(const Options& options) {
  if (options.threads > 0) strata::set_num_threads(options.threads);
  strata::Rngs rngs(options.seed);
  Adder model(options.hidden, rngs);
  train(model, options);

  strata::RngStream random("test", strata::random::key(1));
  const Sums test = addition::draw_sums(2000, options.digits, Part::test, random);
  const Tensor written = model.write(test);
  fmt::print("\nsums never seen in training, all digits right:\n");
  fmt::print("  greedy          {:6.2f} %\n", 100 * share_right(written, test));
  fmt::print("  {:2} beams        {:6.2f} %\n\n", options.beams,
             100 * share_right(model.search(test, options.beams), test));
  for (Index i = 0; i < 5; ++i) {
    fmt::print("  {} = {}\n", addition::question_text(test.questions[i], test.lengths.at<Index>({i})),
               addition::answer_text(written[i]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Learns to add numbers that are written as digits.");
  app.add_option("--digits", options.digits, "Of the numbers, at most")->check(CLI::Range(1, 9))->capture_default_str();
  app.add_option("--hidden", options.hidden, "Hidden units")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch", options.batch_size, "Sums in a step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--steps", options.steps, "Steps of training")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate, "At the beginning; it falls to zero")->capture_default_str();
  app.add_option("--beams", options.beams, "Answers that the search keeps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the initial parameters and the sums")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads to use; 0 for one per core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "addition: {}\n", error.what());
    return 1;
  }
}
