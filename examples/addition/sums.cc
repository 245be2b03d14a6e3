// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace addition {
namespace {

using strata::Index;
using strata::Tensor;

// A number with a random count of digits from two random words.
Index number_of(std::uint64_t count_word, std::uint64_t word, int digits) {
  Index limit = 10;
  for (std::uint64_t count = count_word % static_cast<std::uint64_t>(digits); count > 0; --count) limit *= 10;
  return static_cast<Index>(word % static_cast<std::uint64_t>(limit));
}

// The same pairs are kept for testing in every run.
bool is_for_testing(Index a, Index b) { return (a * 7919 + b * 104729) % 10 == 3; }

void write(std::string text, Index fill, Index width, std::vector<Index>& tokens) {
  for (const char c : text) tokens.push_back(c == '+' ? plus : c - '0');
  tokens.resize(tokens.size() + static_cast<std::size_t>(width) - text.size(), fill);
}

}  // namespace

Sums draw_sums(Index count, int digits, Part part, strata::RngStream& random) {
  const Index width = 2 * digits + 1;
  std::vector<Index> questions;
  std::vector<Index> lengths;
  std::vector<Index> answers;
  while (static_cast<Index>(lengths.size()) < count) {
    const Tensor words = strata::random::bits(random.draw(), {count, 4});
    const std::span<const std::uint32_t> word = words.data<std::uint32_t>();
    for (std::size_t i = 0; i < word.size() && static_cast<Index>(lengths.size()) < count; i += 4) {
      const Index a = number_of(word[i], word[i + 1], digits);
      const Index b = number_of(word[i + 2], word[i + 3], digits);
      if (is_for_testing(a, b) != (part == Part::test)) continue;
      const std::string question = std::to_string(a) + "+" + std::to_string(b);
      std::string answer = std::to_string(a + b);
      std::reverse(answer.begin(), answer.end());
      write(question, end, width, questions);
      write(answer, end, digits + 2, answers);
      lengths.push_back(static_cast<Index>(question.size()));
    }
  }
  return {strata::tensor(questions, {count, width}), strata::tensor(lengths, {count}),
          strata::tensor(answers, {count, Index{digits} + 2})};
}

std::string question_text(const Tensor& tokens, Index length) {
  std::string text;
  for (Index i = 0; i < length; ++i) {
    const Index token = tokens.at<Index>({i});
    text += token == plus ? '+' : static_cast<char>('0' + token);
  }
  return text;
}

std::string answer_text(const Tensor& tokens) {
  std::string text;
  for (Index i = 0; i < tokens.size() && tokens.at<Index>({i}) != end; ++i) {
    text += tokens.at<Index>({i}) == plus ? '+' : static_cast<char>('0' + tokens.at<Index>({i}));
  }
  std::reverse(text.begin(), text.end());
  return text;
}

}  // namespace addition
