// SPDX-License-Identifier: Apache-2.0
#include "golden_runners/random_init.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "strata/nn/embed.h"
#include "strata/nn/initializers.h"
#include "strata/nn/linear.h"
#include "strata/nn/split.h"
#include "strata/recurrent/gru_cell.h"
#include "strata/recurrent/lstm_cell.h"
#include "strata/recurrent/simple_cell.h"
#include "strata/state/rngs.h"
#include "strata/tensor/error.h"
#include "support/golden_runner.h"

namespace strata::golden {
namespace {

using support::Skip;

// "f(1, (2, 3), size=4)" taken apart.
struct Call {
  std::string name;
  std::vector<std::string> positional;
  std::map<std::string, std::string> named;
};

// The texts between commas that are in no parentheses, without spaces.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  int depth = 0;
  std::string argument;
  for (const char c : text) {
    depth += (c == '(' ? 1 : 0) - (c == ')' ? 1 : 0);
    if (c == ',' && depth == 0) {
      arguments.push_back(argument);
      argument.clear();
    } else if (c != ' ') {
      argument += c;
    }
  }
  if (!argument.empty()) arguments.push_back(argument);
  return arguments;
}

Call parse_call(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') throw ValueError("[parse_call] " + text + " is no call.");
  Call call{.name = text.substr(0, open), .positional = {}, .named = {}};
  for (const std::string& argument : split_arguments(std::string_view(text).substr(open + 1, text.size() - open - 2))) {
    const std::size_t equals = argument.substr(0, argument.find('(')).find('=');
    if (equals == std::string::npos) {
      call.positional.push_back(argument);
    } else {
      call.named.emplace(argument.substr(0, equals), argument.substr(equals + 1));
    }
  }
  return call;
}

// The integer at a position, or under a name if there are fewer positions.
Index integer(const Call& call, std::size_t position, const std::string& name) {
  return std::stoll(position < call.positional.size() ? call.positional[position] : call.named.at(name));
}

std::vector<Index> integers(const Call& call, std::size_t position, const std::string& name) {
  const std::string text = position < call.positional.size() ? call.positional[position] : call.named.at(name);
  std::vector<Index> values;
  for (const std::string& value : parse_call(text).positional) values.push_back(std::stoll(value));
  return values;
}

template <class M>
State state_of_sizes(const Call& call, const char* first, const char* second, Rngs& rngs) {
  const M module(integer(call, 0, first), integer(call, 1, second), rngs);
  return nn::state(module);
}

// A kernel and a bias drawn as the layers of Flax draw them, for layers that do not exist here: the kernel as a matrix
// of inputs and outputs where `as_matrix`, else in its own shape.
void draw_layer(State& state, const Path& path, const Shape& kernel, const Shape& bias, bool as_matrix, Rngs& rngs) {
  const Index outputs = bias.num_elements();
  const Shape drawn = as_matrix ? Shape{kernel.num_elements() / outputs, outputs} : kernel;
  state.set(path / "kernel", Param(nn::initializers::lecun_normal()(rngs.draw("params"), drawn).reshape(kernel)));
  state.set(path / "bias", Param(nn::initializers::zeros()(rngs.draw("params"), bias)));
}

State conv_state(const Call& call, Rngs& rngs) {
  const Index in = integer(call, 0, "in_features");
  const Index out = integer(call, 1, "out_features");
  std::vector<Index> kernel = integers(call, 2, "kernel");
  kernel.insert(kernel.end(), {in, out});
  State state;
  draw_layer(state, {}, Shape(kernel), Shape{out}, false, rngs);
  return state;
}

State attention_state(const Call& call, Rngs& rngs) {
  const Index heads = integer(call, 0, "heads");
  const Index features = integer(call, 1, "in_features");
  const Shape split{heads, features / heads};
  State state;
  for (const char* name : {"query", "key", "value"}) {
    draw_layer(state, {name}, Shape{features}.append(split), split, true, rngs);
  }
  draw_layer(state, {"out"}, split.append(Shape{features}), Shape{features}, true, rngs);
  return state;
}

}  // namespace

State initial_state(const std::string& text) {
  using Make = std::function<State(const Call&, Rngs&)>;
  const auto cell = []<class Cell>(std::type_identity<Cell>) -> Make {
    return
        [](const Call& call, Rngs& rngs) { return state_of_sizes<Cell>(call, "in_features", "hidden_features", rngs); };
  };
  static const std::map<std::string, Make> makers{
      {"Linear", [](const Call& call,
                    Rngs& rngs) { return state_of_sizes<nn::Linear>(call, "in_features", "out_features", rngs); }},
      {"Embed", [](const Call& call,
                   Rngs& rngs) { return state_of_sizes<nn::Embed>(call, "num_embeddings", "features", rngs); }},
      {"LSTMCell", cell(std::type_identity<recurrent::LSTMCell>{})},
      {"OptimizedLSTMCell", cell(std::type_identity<recurrent::OptimizedLSTMCell>{})},
      {"GRUCell", cell(std::type_identity<recurrent::GRUCell>{})},
      {"SimpleCell", cell(std::type_identity<recurrent::SimpleCell>{})},
      {"Conv", conv_state},
      {"MultiHeadAttention", attention_state},
  };
  const Call call = parse_call(text);
  const auto found = makers.find(call.name);
  if (found == makers.end()) throw Skip("initial values of " + call.name);
  Rngs rngs(integer(parse_call(call.named.at("rngs")), 0, "default"));
  return found->second(call, rngs);
}

}  // namespace strata::golden
