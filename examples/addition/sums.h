// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

#include <string>

// Sums of two numbers as texts: "12+345" is the question, "753" its answer, which is written from its last digit on, as
// one adds on paper. Each character is a token.
namespace addition {

inline constexpr strata::Index plus = 10;  // after the digits
inline constexpr strata::Index end = 11;   // of an answer; also what stands before its first token
inline constexpr strata::Index vocabulary = 12;

struct Sums {
  strata::Tensor questions;  // int64 [sum, 2 digits + 1]
  strata::Tensor lengths;    // int64 [sum], of the questions
  strata::Tensor answers;    // int64 [sum, digits + 2], the end token behind the answer

  [[nodiscard]] strata::Index size() const { return lengths.size(); }
};

// Which sums are drawn: one pair of numbers in ten is kept for testing.
enum class Part { train, test };

// Sums of numbers with up to `digits` digits, at most nine, drawn at random.
[[nodiscard]] Sums draw_sums(strata::Index count, int digits, Part part, strata::RngStream& random);

// "12+345", and "357" for an answer: the text of one row of tokens.
[[nodiscard]] std::string question_text(const strata::Tensor& tokens, strata::Index length);
[[nodiscard]] std::string answer_text(const strata::Tensor& tokens);

}  // namespace addition
