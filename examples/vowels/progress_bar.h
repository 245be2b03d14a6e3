// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "training.h"

namespace vowels {

// Shows on standard output how training goes: one line that is drawn anew on a terminal, one line for each epoch
// elsewhere.
class ProgressBar {
 public:
  ProgressBar();
  void show(const Progress& progress);

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace vowels
