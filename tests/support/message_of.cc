// SPDX-License-Identifier: Apache-2.0
#include "support/message_of.h"

#include "strata/tensor/error.h"

namespace strata::support {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace strata::support
