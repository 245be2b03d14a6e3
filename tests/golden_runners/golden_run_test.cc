// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>

#include "support/golden_runner.h"

namespace strata::support {
namespace {

// The exit code of a runner with these cases.
int exit_code(const std::function<void(GoldenRun&)>& run_cases) {
  std::string program = "golden_area";
  std::string option = "--dir";
  std::string dir = "data";
  std::array<char*, 3> arguments{program.data(), option.data(), dir.data()};
  return golden_main(static_cast<int>(arguments.size()), arguments.data(), "area",
                     [&](const std::filesystem::path&, GoldenRun& run) { run_cases(run); });
}

void pass() {}
void fail() { throw Mismatch("out"); }
void skip() { throw Skip("layer Conv"); }

TEST(GoldenRunner, SucceedsIfSomePassedAndNoneFailed) {
  EXPECT_EQ(exit_code([](GoldenRun& run) {
              run.run("a", pass);
              run.run("b", skip);
            }),
            0);
}

TEST(GoldenRunner, FailsIfOneFailed) {
  EXPECT_EQ(exit_code([](GoldenRun& run) {
              run.run("a", pass);
              run.run("b", fail);
            }),
            1);
}

TEST(GoldenRunner, FailsIfNothingPassed) {
  EXPECT_EQ(exit_code([](GoldenRun&) {}), 1);
  EXPECT_EQ(exit_code([](GoldenRun& run) { run.run("a", skip); }), 1);
}

}  // namespace
}  // namespace strata::support
