// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "strata/tensor/tensor.h"
#include "support/compare.h"

namespace strata::support {

// Thrown in a golden case: what was computed is not what the data say.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown in a golden case that asks for something the library does not have (yet); `kind` says what, for example
// "layer Conv".
class Skip : public std::runtime_error {
 public:
  explicit Skip(const std::string& kind) : std::runtime_error(kind) {}
};

// Throw Mismatch, with `what` ("out", "grad/kernel") at the head of its message, unless both agree or the condition
// holds.
void require_close(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance, const std::string& what);
void require(bool condition, const std::string& what);

// Counts the cases of a golden run and reports those that fail.
class GoldenRun {
 public:
  // Runs one case. It passes if `body` returns, is skipped if it throws Skip, and fails, with a line that names it, if
  // it throws anything else.
  void run(const std::string& name, const std::function<void()>& body);

  // Prints the skipped cases by kind and, last, "N passed, N failed" (with ", N skipped" if there are any). Returns
  // true if some passed and none failed.
  [[nodiscard]] bool summarize() const;

 private:
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
  std::map<std::string, int> skipped_kinds_;
};

// The main function of the runner golden_<area>: reads `--dir DIR` and lets `run_cases` run all cases found in DIR.
// Returns 0 if some passed and none failed, 1 otherwise, 2 with a message if the arguments or a manifest cannot be
// used: an exception that leaves `run_cases` counts as that.
int golden_main(int argc, char** argv, const std::string& area,
                const std::function<void(const std::filesystem::path& dir, GoldenRun& run)>& run_cases);

}  // namespace strata::support
