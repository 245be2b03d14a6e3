// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <strata/strata.h>

#include <filesystem>

namespace vowels {

constexpr strata::Index num_channels = 12;  // cepstrum coefficients of a frame
constexpr strata::Index num_speakers = 9;

// Utterances of unequal length, padded with zeros to the longest.
struct Utterances {
  strata::Tensor frames;   // float32 [utterance, time, channels]
  strata::Tensor lengths;  // int32 [utterance]
  strata::Tensor labels;   // int32 [utterance], the speaker

  [[nodiscard]] strata::Index size() const { return lengths.size(); }

  // The utterances with these numbers (integers [batch]).
  [[nodiscard]] Utterances select(const strata::Tensor& numbers) const;
};

struct Dataset {
  Utterances train;
  Utterances test;
};

// Reads the Japanese Vowels data. Throws strata::Error if the file cannot be read or is not that data.
[[nodiscard]] Dataset load_dataset(const std::filesystem::path& file);

}  // namespace vowels
