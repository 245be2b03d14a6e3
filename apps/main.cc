// SPDX-License-Identifier: Apache-2.0
//
// The command `strata`: looks at saved states.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>

#include "output.h"
#include "tree.h"

namespace {

constexpr int bad_input = 1;
constexpr int bad_usage = 2;

int run_command(int argc, char** argv) {
  std::function<void()> run;
  CLI::App app("Looks at saved states of neural networks.", "strata");
  app.require_subcommand(1);
  strata::apps::add_tree_command(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_usage;
  }
  run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe is then a failed write, which print turns into a quiet end.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_command(argc, argv);
  } catch (const strata::apps::OutputClosed&) {
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "strata: %s\n", error.what());
    return bad_input;
  }
}
