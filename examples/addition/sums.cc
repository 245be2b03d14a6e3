// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace addition {
namespace {

using strata::Index;
using strata::Tensor;

// The same pairs are kept for testing in every run, whatever their digits: a hash by multiplication, whose upper bits
// depend on all bits of both numbers.
bool is_for_testing(Index a, Index b) {
  const std::uint64_t pair = static_cast<std::uint64_t>(a) << 32U ^ static_cast<std::uint64_t>(b);
  const std::uint64_t mixed = (pair ^ pair >> 29U) * 0x9e3779b97f4a7c15U;
  return (mixed >> 40U) % 10 == 0;
}

void write(std::string text, Index fill, Index width, std::vector<Index>& tokens) {
  for (const char c : text) tokens.push_back(c == '+' ? plus : c - '0');
  tokens.resize(tokens.size() + static_cast<std::size_t>(width) - text.size(), fill);
}

}  // namespace

Sums draw_sums(Index count, int digits, Part part, strata::RngStream& random) {
  const Index width = 2 * digits + 1;
  std::uint32_t limit = 1;
  for (int i = 0; i < digits; ++i) limit *= 10;
  std::vector<Index> questions;
  std::vector<Index> lengths;
  std::vector<Index> answers;
  while (static_cast<Index>(lengths.size()) < count) {
    const Tensor words = strata::random::bits(random.draw(), {count, 2});
    const std::span<const std::uint32_t> word = words.data<std::uint32_t>();
    for (std::size_t i = 0; i < word.size() && static_cast<Index>(lengths.size()) < count; i += 2) {
      const Index a = word[i] % limit;
      const Index b = word[i + 1] % limit;
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
