// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace vowels {

ProgressBar::ProgressBar() : terminal_(isatty(STDOUT_FILENO) != 0), start_(std::chrono::steady_clock::now()) {}

void ProgressBar::show(const Progress& progress) {
  const std::string figures = fmt::format("loss {:6.4f}  accuracy {:6.2f} %", progress.loss, 100 * progress.accuracy);
  if (!terminal_) {
    if (progress.epoch_done) fmt::print("epoch {:3}  {}\n", progress.epoch, figures);
    return;
  }
  constexpr int width = 30;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const double left = elapsed.count() / progress.step * (progress.steps - progress.step);
  const int done = width * progress.step / progress.steps;
  fmt::print("\r[{}{}] epoch {:3}  {}  {:4.1f} s left ", std::string(static_cast<std::size_t>(done), '='),
             std::string(static_cast<std::size_t>(width - done), ' '), progress.epoch, figures, left);
  if (progress.step == progress.steps) fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace vowels
