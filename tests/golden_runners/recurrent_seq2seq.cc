// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/recurrent_seq2seq.h"

#include "strata/nn/split.h"
#include "strata/nn/value_and_grad.h"
#include "strata/recurrent/decode.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/rnn.h"
#include "strata/tensor/activation.h"
#include "strata/tensor/arithmetic.h"
#include "strata/tensor/compare.h"
#include "strata/tensor/create.h"
#include "strata/tensor/manipulate.h"
#include "strata/tensor/reduce.h"
#include "support/golden_runner.h"

namespace strata::golden {
namespace {

using support::require;
using support::require_close;
using support::within_scaled;

struct Model {
  recurrent::RNN<recurrent::LSTMCell> encoder;
  recurrent::TokenDecoder<recurrent::LSTMCell> decoder;

  Model(Index vocabulary, Index hidden, DType dtype, Rngs& rngs)
      : encoder{recurrent::LSTMCell{vocabulary, hidden, rngs, {.param_dtype = dtype}}},
        decoder{recurrent::LSTMCell{vocabulary, hidden, rngs, {.param_dtype = dtype}},
                nn::Linear{hidden, vocabulary, rngs, {.param_dtype = dtype}}} {}

  STRATA_FIELDS(encoder, decoder)
};

// Where the file has a parameter of ours: `encoder/cell/if/kernel`, `decoder/cell/lstm/if/kernel`,
// `decoder/cell/out/kernel`.
std::string name_in_file(const Path& path) {
  std::string name = to_string(path);
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  };
  replace("decoder/cell/", "decoder/cell/lstm/");
  replace("decoder/head/", "decoder/cell/out/");
  replace("if_/", "if/");
  return name;
}

class Seq2SeqCase {
 public:
  Seq2SeqCase(const support::Json& entry, const Arrays& arrays, DType dtype)
      : arrays_(arrays),
        dtype_(dtype),
        teacher_force_(entry.at("teacher_force")),
        rngs_(0),
        model_(entry.at("vocab"), entry.at("hidden"), dtype, rngs_) {
    State state = nn::state(model_);
    for (const auto& [path, variable] : nn::state(model_)) {
      state.set(path, Param(arrays.at("params/" + name_in_file(path)).astype(dtype)));
    }
    nn::update(model_, state);
  }

  void check_values(const std::string& reference, double expected_loss, double bound) {
    const recurrent::LSTMCarry carry = encode(model_);
    require_close(carry.c, arrays_.at(reference + "encoder_carry/c"), within_scaled(bound),
                  reference + "encoder_carry/c");
    require_close(carry.h, arrays_.at(reference + "encoder_carry/h"), within_scaled(bound),
                  reference + "encoder_carry/h");
    const Tensor logits = decode(model_);
    require_close(logits, arrays_.at(reference + "logits"), within_scaled(bound), reference + "logits");
    require_close(argmax(logits, -1), arrays_.at(reference + "predicted_tokens").astype(DType::int64), support::exactly,
                  reference + "predicted_tokens");
    require_close(loss(model_), scalar(expected_loss).astype(dtype_), within_scaled(bound), reference + "loss");
  }

  void check_gradients(const std::string& reference, double bound) {
    const auto step = nn::value_and_grad([this](Model& model) { return loss(model); }, of_type<Param>);
    for (const auto& [path, gradient] : step(model_).grads) {
      const std::string name = reference + "params/" + name_in_file(path);
      require_close(gradient, arrays_.at(name), within_scaled(bound), name);
    }
  }

 private:
  [[nodiscard]] Tensor decoder_tokens() const { return argmax(arrays_.at("decoder_inputs"), -1); }

  // Where a row has no end token the file says length 0 and takes the carry after the last step.
  recurrent::LSTMCarry encode(Model& model) const {
    const Tensor x = arrays_.at("encoder_inputs").astype(dtype_);
    const Tensor lengths = arrays_.at("encoder_lengths");
    return model.encoder.scan(x, {.seq_lengths = where(lengths > 0, lengths, full_like(lengths, x.size(1)))}).carry;
  }

  Tensor decode(Model& model) const {
    const Tensor tokens = decoder_tokens();
    const Index steps = tokens.size(1) - 1;
    if (teacher_force_) {
      return model.decoder.scan(slice_axis(tokens, 1, 0, steps), {.initial_carry = encode(model)}).y;
    }
    const Tensor start = squeeze(slice_axis(tokens, 1, 0, 1), 1);
    return recurrent::decode(model.decoder, encode(model), start, steps).logits;
  }

  Tensor loss(Model& model) const {
    const Tensor labels = slice_axis(arrays_.at("decoder_inputs").astype(dtype_), 1, 1, decoder_tokens().size(1));
    const Tensor of_steps = -sum(log_softmax(decode(model)) * labels, -1);
    const Tensor mask = arange(of_steps.size(1)) < expand_dims(arrays_.at("label_lengths"), -1);
    return mean(of_steps * mask.astype(dtype_));
  }

  const Arrays& arrays_;
  DType dtype_;
  bool teacher_force_;
  Rngs rngs_;
  Model model_;
};

}  // namespace

void run_seq2seq(const support::Json& entry, const Arrays& arrays) {
  Seq2SeqCase narrow(entry, arrays, DType::float32);
  narrow.check_values("", entry.at("loss"), 2e-6);
  Seq2SeqCase wide(entry, arrays, DType::float64);
  wide.check_values("ref64/", entry.at("loss64"), 1e-12);
  const auto has = [&](const std::string& role) {
    return arrays.lower_bound(role) != arrays.end() && arrays.lower_bound(role)->first.starts_with(role);
  };
  if (has("grad/")) narrow.check_gradients("grad/", 1e-5);
  if (has("grad64/")) wide.check_gradients("grad64/", 1e-9);
}

}  // namespace strata::golden
