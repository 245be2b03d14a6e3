// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/mode.h"

#include "strata/state/internal/walk.h"

namespace strata::nn::internal {
namespace {

using strata::internal::Node;
using strata::internal::Trail;

class ModeSetter final : public strata::internal::WalkHandler {
 public:
  explicit ModeSetter(Mode mode) : value_(mode == Mode::eval) {}

  void value(const Trail& trail, Node node) override {
    if (trail.empty() || node.type != &strata::internal::node_type<bool>()) return;
    if (trail.back() == Key("deterministic") || trail.back() == Key("use_running_average")) {
      *static_cast<bool*>(node.object) = value_;
    }
  }

 private:
  bool value_;
};

}  // namespace

void set_mode(Node root, Mode mode) {
  ModeSetter setter(mode);
  strata::internal::walk(root, setter);
}

}  // namespace strata::nn::internal
