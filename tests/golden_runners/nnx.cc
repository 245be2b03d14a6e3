// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/nnx_cases.h"

int main(int argc, char** argv) {
  return strata::support::golden_main(argc, argv, "nnx", [](const auto& dir, auto& run) {
    strata::golden::run_filter_cases(dir, run);
    strata::golden::run_state_cases(dir, run);
    strata::golden::run_graph_cases(dir, run);
    strata::golden::run_layer_cases(dir, run);
    strata::golden::run_function_cases(dir, run);
    strata::golden::run_optimizer_cases(dir, run);
    strata::golden::run_random_cases(dir, run);
    strata::golden::run_extra_cases(dir, run);
    strata::golden::run_model_cases(dir, run);
  });
}
