// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace strata::apps {

// Adds `strata tree` to the command. What it is to do is put into `run` when its arguments are read.
void add_tree_command(CLI::App& app, std::function<void()>& run);

}  // namespace strata::apps
