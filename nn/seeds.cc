// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/seeds.h"

#include <algorithm>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;
using strata::internal::Trail;

struct Stream {
  Path path;
  RngStream* stream;
};

class StreamCollector final : public strata::internal::WalkHandler {
 public:
  void group(const Trail& trail, Node node) override {
    if (node.type != &strata::internal::node_type<RngStream>()) return;
    streams.push_back({trail.path() / Key("key"), static_cast<RngStream*>(node.object)});
  }

  std::vector<Stream> streams;
};

std::vector<Stream> streams_of(Node root) {
  StreamCollector collector;
  strata::internal::walk(root, collector);
  return std::move(collector.streams);
}

std::vector<Stream> streams_of(Node root, const Filter& only, const std::string& operation) {
  std::vector<Stream> streams = streams_of(root);
  std::erase_if(streams, [&](const Stream& s) { return !only(s.path, s.stream->key); });
  if (streams.empty()) throw StateError("[" + operation + "] `" + to_string(only) + "` takes no random stream.");
  return streams;
}

}  // namespace

void reseed(Node root, std::vector<Seed> seeds, Absent absent) {
  std::sort(seeds.begin(), seeds.end(), [](const Seed& a, const Seed& b) { return a.tag < b.tag; });
  for (std::size_t i = 1; i < seeds.size(); ++i) {
    if (seeds[i].tag == seeds[i - 1].tag) {
      throw ValueError("[reseed] the tag " + std::string(seeds[i].tag) + " has two seeds. Name each tag once.");
    }
  }
  const std::vector<Stream> streams = streams_of(root);
  std::vector<std::string> unknown;
  for (const Seed& seed : seeds) {
    const auto has_tag = [&](const Stream& s) { return s.stream->key.tag() && *s.stream->key.tag() == seed.tag; };
    if (std::none_of(streams.begin(), streams.end(), has_tag)) unknown.emplace_back(seed.tag);
  }
  if (!unknown.empty() && absent == Absent::error) {
    throw StateError("[reseed] no stream has the tag: " + strata::internal::list_offenders(unknown) +
                     ". Nothing was changed; Absent::ignore leaves such tags out.");
  }
  for (const Seed& seed : seeds) {
    std::uint32_t number = 0;
    for (const auto& [path, stream] : streams) {
      if (stream->key.tag() == nullptr || *stream->key.tag() != seed.tag) continue;
      const RandomKey key = random::fold_in(random::key(seed.seed), number++);
      stream->key.reset(tensor({key.high, key.low}));
      stream->count.reset(scalar<std::uint32_t>(0));
    }
  }
}

void fork_streams(Node root, const Filter& only) {
  const std::vector<Stream> streams = streams_of(root, only, "fork_streams");
  std::vector<RngStream> forks;
  for (const auto& [path, stream] : streams) {
    RngStream original = *stream;  // a stream that cannot be drawn from leaves all as they were
    forks.push_back(original.fork());
  }
  for (std::size_t i = 0; i < streams.size(); ++i) *streams[i].stream = std::move(forks[i]);
}

void split_streams(Node root, std::span<const Node> copies, const Filter& only) {
  const std::vector<Stream> streams = streams_of(root, only, "split_streams");
  std::vector<RngStream> originals;
  std::vector<std::vector<RngStream>> parts;
  for (const auto& [path, stream] : streams) {
    originals.push_back(*stream);
    parts.push_back(originals.back().split(static_cast<Index>(copies.size())));
  }
  for (std::size_t copy = 0; copy < copies.size(); ++copy) {
    // The copy's streams stand where the original's do: the filter takes the same ones.
    const std::vector<Stream> of_copy = streams_of(copies[copy], only, "split_streams");
    for (std::size_t i = 0; i < of_copy.size(); ++i) *of_copy[i].stream = std::move(parts[i][copy]);
  }
  for (std::size_t i = 0; i < streams.size(); ++i) *streams[i].stream = std::move(originals[i]);
}

}  // namespace strata::nn::internal
