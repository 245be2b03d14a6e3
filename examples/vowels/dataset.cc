// SPDX-License-Identifier: Apache-2.0
#include "dataset.h"

#include <algorithm>
#include <string>

namespace vowels {
namespace {

using strata::Index;
using strata::Tensor;

// The frames of all utterances stand one after the other in the file.
Tensor pad(const Tensor& all_frames, const Tensor& lengths, Index time) {
  Tensor padded = strata::zeros({lengths.size(), time, num_channels});
  const auto from = all_frames.data<float>();
  const auto to = padded.mutable_data<float>();
  auto next = from.begin();
  for (Index i = 0; i < lengths.size(); ++i) {
    const Index length = lengths.at<Index>({i});
    if (length < 0 || length > time || length * num_channels > from.end() - next) {
      throw strata::FormatError("[load_dataset] the lengths do not fit the frames.");
    }
    const Index count = length * num_channels;
    std::copy_n(next, count, to.begin() + i * time * num_channels);
    next += count;
  }
  return padded;
}

Utterances read_part(const strata::State& state, const std::string& part, Index time) {
  const Tensor& lengths = state.at(strata::Path{part, "lengths"});
  return {.frames = pad(state.at(strata::Path{part, "frames"}), lengths, time),
          .lengths = lengths,
          .labels = state.at(strata::Path{part, "labels"})};
}

}  // namespace

Utterances Utterances::select(const Tensor& numbers) const {
  return {.frames = strata::take(frames, numbers, 0),
          .lengths = strata::take(lengths, numbers, 0),
          .labels = strata::take(labels, numbers, 0)};
}

Dataset load_dataset(const std::filesystem::path& file) {
  const strata::State state = strata::checkpoint::restore(file);
  constexpr Index longest = 29;
  return {.train = read_part(state, "train", longest), .test = read_part(state, "test", longest)};
}

}  // namespace vowels
