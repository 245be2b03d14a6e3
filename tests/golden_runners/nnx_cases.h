// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "support/golden_runner.h"

// The parts of golden_nnx. Each runs the cases of its files in `dir`.
namespace strata::golden {

// random.json: keys, samples, streams, dropout masks, initializers.
void run_random_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// layers.json: the state of single layers, their results, gradients, and what a call changes.
void run_layer_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// functions.json: activations, functions along an axis, losses.
void run_function_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// filters.json and splits.json: what filters take, which are equal, ordered splits.
void run_filter_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// state_ops.json: order of paths, merging into graph definitions, updating modules.
void run_state_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// graphs.json: shared objects and cycles.
void run_graph_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// optimizers.json: parameters after steps of each optimizer.
void run_optimizer_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// extras.json: ensembles, layers repeated in depth.
void run_extra_cases(const std::filesystem::path& dir, support::GoldenRun& run);

// models/*.json: outputs, gradients and training of whole networks.
void run_model_cases(const std::filesystem::path& dir, support::GoldenRun& run);

}  // namespace strata::golden
