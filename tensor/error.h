// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace strata {

enum class ErrorKind { value, shape, dtype, gradient, state, filter, format, io };

// The root of everything Strata throws. what() is a sentence of the form
//
//   [operation] what is wrong: facts. What to do.
//
// and an error is thrown before anything was changed.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

template <ErrorKind K>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(K, message) {}
};

using ValueError = ErrorOf<ErrorKind::value>;        // an argument is out of its range
using ShapeError = ErrorOf<ErrorKind::shape>;        // shapes do not fit together; names got and expected
using DTypeError = ErrorOf<ErrorKind::dtype>;        // an element type that an operation does not take
using GradientError = ErrorOf<ErrorKind::gradient>;  // a derivative that cannot be had
using StateError = ErrorOf<ErrorKind::state>;        // missing, unexpected or duplicate path
using FilterError = ErrorOf<ErrorKind::filter>;      // catch-all not last, invalid filter
using FormatError = ErrorOf<ErrorKind::format>;      // bytes that are not what they claim: file, offset, expected
using IoError = ErrorOf<ErrorKind::io>;              // file, operation, message of the system

}  // namespace strata
