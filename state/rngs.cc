// SPDX-License-Identifier: Apache-2.0
#include "strata/state/rngs.h"

#include "strata/tensor/error.h"

namespace strata {
namespace {

Tensor key_tensor(RandomKey key) { return tensor({key.high, key.low}); }

// The names of the streams, for error messages.
std::string names_of(const std::map<std::string, RngStream>& streams) {
  std::string names;
  for (const auto& [name, stream] : streams) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

}  // namespace

RngStream::RngStream(std::string_view name, RandomKey stream_key)
    : key(key_tensor(stream_key), tagged(name)), count(scalar<std::uint32_t>(0), tagged(name)) {}

RandomKey RngStream::draw() {
  const Tensor& words = key.value();
  const Tensor& draws = count.value();
  if (words.dtype() != DType::uint32 || words.shape() != Shape{2} || draws.dtype() != DType::uint32 ||
      draws.rank() != 0) {
    throw StateError("[RngStream::draw] the stream holds " + describe(key) + " and " + describe(count) +
                     "; it takes uint32[2] and uint32[].");
  }
  const RandomKey stream_key{words.data<std::uint32_t>()[0], words.data<std::uint32_t>()[1]};
  const auto number = draws.item<std::uint32_t>();
  count.set_value(scalar<std::uint32_t>(number + 1));
  return random::fold_in(stream_key, number);
}

RngStream RngStream::fork() {
  RngStream forked = *this;
  forked.key.reset(key_tensor(draw()));
  forked.count.reset(scalar<std::uint32_t>(0));
  return forked;
}

std::vector<RngStream> RngStream::split(Index num_streams) {
  if (num_streams < 0) {
    throw ValueError("[RngStream::split] " + std::to_string(num_streams) + " streams. Give a number from 0 on.");
  }
  std::vector<RngStream> streams;
  for (const RandomKey& stream_key : random::split(draw(), num_streams)) {
    streams.push_back(*this);
    streams.back().key.reset(key_tensor(stream_key));
    streams.back().count.reset(scalar<std::uint32_t>(0));
  }
  return streams;
}

Rngs::Rngs(std::int64_t seed, Seeds named) : Rngs(named) {
  if (!streams_.try_emplace("default", "default", random::key(seed)).second) {
    throw ValueError("[Rngs] the stream default has two seeds. Give its seed as the first argument alone.");
  }
}

Rngs::Rngs(Seeds named) {
  for (const auto& [name, seed] : named) add(name, seed);
}

Rngs::Rngs(const std::map<std::string, std::int64_t>& named) {
  for (const auto& [name, seed] : named) add(name, seed);
}

void Rngs::add(std::string_view name, std::int64_t seed) {
  if (!streams_.try_emplace(std::string(name), name, random::key(seed)).second) {
    throw ValueError("[Rngs] the stream " + std::string(name) + " has two seeds. Name each stream once.");
  }
}

RngStream& Rngs::stream(std::string_view name) {
  auto found = streams_.find(std::string(name));
  if (found == streams_.end()) found = streams_.find("default");
  if (found == streams_.end()) {
    throw StateError("[Rngs::stream] there is no stream " + std::string(name) +
                     " and no default one; there are: " + names_of(streams_) + ". Give a seed for it, or for default.");
  }
  return found->second;
}

Rngs Rngs::fork() {
  Rngs forked(Seeds{});
  for (auto& [name, stream] : streams_) forked.streams_.emplace(name, stream.fork());
  return forked;
}

std::vector<Rngs> Rngs::split(Index num_sets) {
  if (num_sets < 0) {
    throw ValueError("[Rngs::split] " + std::to_string(num_sets) + " sets of streams. Give a number from 0 on.");
  }
  std::vector<Rngs> result(static_cast<std::size_t>(num_sets), Rngs(Seeds{}));
  for (auto& [name, stream] : streams_) {
    const std::vector<RngStream> streams = stream.split(num_sets);
    for (std::size_t i = 0; i < result.size(); ++i) result[i].streams_.emplace(name, streams[i]);
  }
  return result;
}

void internal::ContainerType<Rngs>::children(void* object, ChildVisitor& visitor) {
  auto& streams = static_cast<Rngs*>(object)->streams_;
  node_type<std::map<std::string, RngStream>>().children(&streams, visitor);
}

void internal::ContainerType<Rngs>::copy(void* to, const void* from, PendingCopies& pending) {
  node_type<std::map<std::string, RngStream>>().copy(&static_cast<Rngs*>(to)->streams_,
                                                     &static_cast<const Rngs*>(from)->streams_, pending);
}

}  // namespace strata
