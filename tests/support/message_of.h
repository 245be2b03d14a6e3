// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace strata::support {

// What the error that `call` throws says; empty if it throws none. Exceptions that are no strata::Error pass on.
[[nodiscard]] std::string message_of(const std::function<void()>& call);

}  // namespace strata::support
