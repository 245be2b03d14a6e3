// SPDX-License-Identifier: Apache-2.0
#include "support/golden_runner.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string_view>

namespace strata::support {
namespace {

std::string usage(const std::string& area) {
  return "Usage: golden_" + area +
         " --dir DIR\n\nRuns every case of golden data in DIR, a folder of the form of tests/golden/" + area +
         ".\nPrints a line for each case that fails, and ends with \"N passed, N failed\".\nSucceeds if some passed "
         "and none failed.\n";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

void require_close(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance, const std::string& what) {
  const std::string text = difference(actual, expected, tolerance);
  if (!text.empty()) throw Mismatch(what + ": " + text);
}

void require(bool condition, const std::string& what) {
  if (!condition) throw Mismatch(what);
}

void GoldenRun::run(const std::string& name, const std::function<void()>& body) {
  const auto fail = [&](const std::string& why) {
    ++failed_;
    std::cout << "FAILED " << one_line(name + ": " + why) << '\n';
  };
  try {
    body();
    ++passed_;
  } catch (const Skip& skip) {
    ++skipped_;
    ++skipped_kinds_[skip.what()];
  } catch (const Mismatch& mismatch) {
    fail(mismatch.what());
  } catch (const std::exception& error) {
    fail(std::string("threw ") + error.what());
  } catch (...) {
    fail("threw something that is no std::exception");
  }
}

bool GoldenRun::summarize() const {
  for (const auto& [kind, count] : skipped_kinds_) std::cout << "skipped " << count << ": " << one_line(kind) << '\n';
  std::cout << passed_ << " passed, " << failed_ << " failed";
  if (skipped_ > 0) std::cout << ", " << skipped_ << " skipped";
  std::cout << '\n' << std::flush;
  return failed_ == 0 && passed_ > 0;
}

int golden_main(int argc, char** argv, const std::string& area,
                const std::function<void(const std::filesystem::path& dir, GoldenRun& run)>& run_cases) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << usage(area);
    return 0;
  }
  if (argc != 3 || std::string_view(argv[1]) != "--dir") {
    std::cerr << usage(area);
    return 2;
  }
  try {
    GoldenRun run;
    run_cases(argv[2], run);
    return run.summarize() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "golden_" << area << ": the data in " << argv[2] << " cannot be used: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace strata::support
