// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/internal/regex.h"

#include <re2/re2.h>

#include "strata/filters/internal/pattern_error.h"

namespace strata::internal {

Regex::Regex(std::string pattern) : pattern_(std::move(pattern)) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  options.set_never_capture(true);
  program_ = std::make_shared<const re2::RE2>(pattern_, options);
  if (program_->ok()) return;
  const std::string& part = program_->error_arg();
  const std::size_t place = part.empty() ? std::string::npos : pattern_.find(part);
  throw PatternError{program_->error(), place == std::string::npos ? 0 : place};
}

bool Regex::is_found_in(std::string_view text) const { return RE2::PartialMatch(re2::StringPiece(text), *program_); }

}  // namespace strata::internal
