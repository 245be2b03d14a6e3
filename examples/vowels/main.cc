// SPDX-License-Identifier: Apache-2.0
//
// Learns to tell nine speakers apart from recordings of a vowel, saves what it learned, and restores it in another
// process.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "classifier.h"
#include "dataset.h"
#include "progress_bar.h"
#include "training.h"

namespace {

namespace nn = strata::nn;
using strata::BatchStat, strata::Param, strata::Path, strata::State, strata::Tensor, strata::Variable;

struct Options {
  std::filesystem::path data = VOWELS_DATA;
  std::filesystem::path save;
  std::filesystem::path load;
  std::string cell = "lstm";
  strata::Index hidden = 16;
  double dropout = 0;
  int threads = 0;
  vowels::TrainingOptions training;
};

void print_groups(const vowels::Classifier& model) {
  const auto [graph, params, stats, others] =
      nn::split(model, strata::of_type<Param>, strata::of_type<BatchStat>, strata::rest);
  fmt::print("{}\nsplit by Param, BatchStat, rest:\n", nn::tree(model));
  const auto print = [](const char* name, const State& group) {
    fmt::print("  {:<10} {:>3} variables {:>6} elements {:>7} bytes\n", name, group.size(), group.num_elements(),
               group.num_bytes());
  };
  print("Param", params);
  print("BatchStat", stats);
  print("rest", others);
  fmt::print("\n");
}

// The model's state, and beside it what another process needs to check that it restored the same model.
State with_predictions(const vowels::Classifier& model, const Tensor& predictions) {
  State file;
  for (const auto& [path, variable] : nn::state(model)) file.set(Path{"model"} / path, variable);
  file.set({"predictions"}, Variable(predictions));
  return file;
}

void train_and_save(vowels::Classifier& model, const vowels::Dataset& data, const Options& options) {
  print_groups(model);
  vowels::ProgressBar bar;
  vowels::train(model, data.train, options.training, [&](const vowels::Progress& progress) { bar.show(progress); });
  const Tensor predictions = vowels::predict(model, data.test, options.training.packed);
  fmt::print("training accuracy {:6.2f} %\ntest accuracy     {:6.2f} %\n",
             100 * vowels::accuracy(vowels::predict(model, data.train, options.training.packed), data.train.labels),
             100 * vowels::accuracy(predictions, data.test.labels));
  if (options.save.empty()) return;
  strata::checkpoint::save(options.save, with_predictions(model, predictions));
  fmt::print("saved {}\n", options.save.string());
}

// Returns whether the restored model predicts what the saved one did.
bool restore_and_check(vowels::Classifier& model, const vowels::Dataset& data, const Options& options) {
  const State saved = strata::checkpoint::restore(options.load);
  nn::update(model, strata::subtree(saved, Path{"model"}));
  nn::eval(model);
  const Tensor predictions = vowels::predict(model, data.test, options.training.packed);
  const bool same = identical(predictions, saved.at(Path{"predictions"}));
  fmt::print("restored {}\ntest accuracy     {:6.2f} %\npredictions       {}\n", options.load.string(),
             100 * vowels::accuracy(predictions, data.test.labels), same ? "identical" : "DIFFERENT");
  return same;
}

int run(const Options& options) {
  if (options.threads > 0) strata::set_num_threads(options.threads);
  const vowels::Dataset data = vowels::load_dataset(options.data);
  strata::Rngs rngs(options.training.seed);
  vowels::Classifier model(options.cell, vowels::num_channels, options.hidden, vowels::num_speakers, options.dropout,
                           rngs);
  if (!options.load.empty()) return restore_and_check(model, data, options) ? 0 : 1;
  train_and_save(model, data, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Tells nine speakers apart from recordings of a vowel (Japanese Vowels data).");
  app.add_option("--epochs", options.training.epochs, "Passes over the training set")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--cell", options.cell, "Of the encoder")
      ->check(CLI::IsMember(vowels::cell_names()))
      ->capture_default_str();
  app.add_flag("--packed", options.training.packed, "Read utterances without padding: the same numbers in less time");
  app.add_option("--hidden", options.hidden, "Hidden units of each direction")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.training.seed, "Of the initial parameters and the order of the data")
      ->capture_default_str();
  app.add_option("--dropout", options.dropout, "Share of features left out in training")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Threads to use; 0 for one per core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--data", options.data, "The data file")->capture_default_str();
  app.add_option("--save", options.save, "Write the trained state to this file");
  app.add_option("--load", options.load, "Restore this file instead of training, and evaluate it")->excludes("--save");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "vowels: {}\n", error.what());
    return 1;
  }
}
