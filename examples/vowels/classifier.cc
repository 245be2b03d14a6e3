// SPDX-License-Identifier: Apache-2.0
#include "classifier.h"

#include <map>

namespace vowels {
namespace {

using strata::Index;
using strata::Tensor;

using Factory = Encoder (*)(Index channels, Index hidden, strata::Rngs& rngs);

template <class Cell>
Encoder make(Index channels, Index hidden, strata::Rngs& rngs) {
  return rnn::Bidirectional<Cell>{Cell{channels, hidden, rngs}, Cell{channels, hidden, rngs}};
}

const std::map<std::string, Factory>& factories() {
  static const std::map<std::string, Factory> by_name{
      {"lstm", make<rnn::LSTMCell>},     {"optimized_lstm", make<rnn::OptimizedLSTMCell>},
      {"gru", make<rnn::GRUCell>},       {"mgu", make<rnn::MGUCell>},
      {"simple", make<rnn::SimpleCell>}, {"layer_norm_lstm", make<rnn::LayerNormLSTMCell>}};
  return by_name;
}

// What each direction remembers after its last frame, side by side.
template <class Carry>
Tensor ends(const Carry& carry) {
  return strata::concatenate({carry.forward.h, carry.backward.h}, -1);
}

Tensor score(Classifier& model, const Tensor& remembered) { return model.head(model.dropout(model.norm(remembered))); }

}  // namespace

const std::vector<std::string>& cell_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, factory] : factories()) all.push_back(name);
    return all;
  }();
  return names;
}

Encoder make_encoder(const std::string& cell, Index channels, Index hidden, strata::Rngs& rngs) {
  const auto factory = factories().find(cell);
  if (factory == factories().end()) throw strata::ValueError("[make_encoder] there is no cell `" + cell + "`.");
  return factory->second(channels, hidden, rngs);
}

Tensor Classifier::operator()(const Tensor& x, const Tensor& lengths) {
  const auto read = [&](auto& layer) { return ends(layer.scan(x, {.seq_lengths = lengths}).carry); };
  return score(*this, std::visit(read, encoder));
}

Tensor Classifier::operator()(const rnn::PackedSequence& x) {
  const auto read = [&](auto& layer) { return ends(layer.scan(x).carry); };
  return score(*this, std::visit(read, encoder));
}

}  // namespace vowels
