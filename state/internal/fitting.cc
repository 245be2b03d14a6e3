// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/fitting.h"

#include <algorithm>

#include "strata/state/internal/listing.h"
#include "strata/state/internal/node_of.h"
#include "strata/state/internal/state_cursor.h"
#include "strata/state/internal/walk.h"
#include "strata/tensor/error.h"

namespace strata::internal {
namespace {

bool knows_kind(const Variable& entry) { return &entry.kind() != &kind_of<Variable>(); }

// `kind` is null where any will do.
bool fits(const Variable& got, const Kind* kind, const Form& form) {
  const bool right_kind = kind == nullptr || kind == &got.kind() || !knows_kind(got);
  const Form other = form_of(got.value());
  return right_kind && other.dtype == form.dtype && std::ranges::equal(other.sizes, form.sizes);
}

std::string described(const Path& path, const Variable& variable) {
  return shown(path) + " (" + describe(variable) + ")";
}

// Everything that keeps a state from fitting.
class Misfits {
 public:
  void missing(const Path& path, const Kind& kind, const Form& form) {
    missing_.push_back(shown(path) + " (" + form_text(kind, form) + ")");
  }
  void unexpected(const State::Entry& entry) { unexpected_.push_back(described(entry.path, entry.variable)); }
  void twice(const Path& path) { twice_.push_back(shown(path)); }
  void different(const Kind& kind, const Form& form, const State::Entry& entry) {
    different_.push_back(shown(entry.path) + " (expected " + form_text(kind, form) + ", got " +
                         describe(entry.variable) + ")");
  }

  void throw_if_any(const std::string& what) const {
    std::string parts;
    add(parts, "Missing", missing_);
    add(parts, "Unexpected", unexpected_);
    add(parts, "Given more than once", twice_);
    add(parts, "Different", different_);
    if (!parts.empty()) throw StateError(what + parts + " Nothing was changed.");
  }

 private:
  static std::string form_text(const Kind& kind, const Form& form) {
    return std::string(kind.name) + " " + std::string(name(form.dtype)) + to_string(Shape(form.sizes));
  }
  static void add(std::string& parts, const char* what, const std::vector<std::string>& offenders) {
    if (!offenders.empty()) parts += " " + std::string(what) + ": " + list_offenders(offenders) + ".";
  }

  std::vector<std::string> missing_;
  std::vector<std::string> unexpected_;
  std::vector<std::string> twice_;
  std::vector<std::string> different_;
};

// Finds the entries for the variables that a walk meets, notes what does not fit, and only then gives the values.
class Fitter : public WalkHandler {
 public:
  explicit Fitter(std::span<const State* const> states) {
    std::size_t entries = 0;
    for (const State* state : states) {
      cursors_.emplace_back(*state);
      entries += static_cast<std::size_t>(state->size());
    }
    assignments_.reserve(entries);
  }

  // Throws StateError if anything did not fit.
  void finish(const std::string& what) {
    for (StateCursor& cursor : cursors_)
      cursor.finish([this](const State::Entry& entry) { misfits_.unexpected(entry); });
    misfits_.throw_if_any(what);
  }

  void assign() noexcept {
    for (const auto& [field, entry, with_kind] : assignments_) {
      if (with_kind) {
        *field = *entry;
        continue;
      }
      field->reset(entry->value());
      if (knows_kind(*entry)) field->set_metadata(entry->metadata());
    }
  }

 protected:
  // Looks for the place in every state; returns in how many it is.
  int find(const Trail& trail, Variable& field, const Form& form, const Kind* kind, bool with_kind) {
    const auto unexpected = [this](const State::Entry& entry) { misfits_.unexpected(entry); };
    int found = 0;
    for (StateCursor& cursor : cursors_) {
      const State::Entry* entry = cursor.seek(trail, unexpected);
      if (entry == nullptr) continue;
      ++found;
      const Variable& got = entry->variable;
      if (!fits(got, kind, form)) misfits_.different(field.kind(), form, *entry);
      assignments_.push_back({&field, &got, with_kind && knows_kind(got)});
    }
    return found;
  }

  Misfits misfits_;

 private:
  struct Assignment {
    Variable* field;
    const Variable* entry;
    bool with_kind;
  };

  std::vector<StateCursor> cursors_;
  std::vector<Assignment> assignments_;
};

class Updater final : public Fitter {
 public:
  using Fitter::Fitter;
  void variable(const Trail& trail, Variable& field, Node) override {
    find(trail, field, form_of(field.value()), nullptr, false);
  }
};

class Filler final : public Fitter {
 public:
  Filler(std::span<const State* const> states, const Forms& forms) : Fitter(states), forms_(forms) {}

  void variable(const Trail& trail, Variable& field, Node place) override {
    if (forms_.empty()) throw_other_copy();
    const Form form = forms_.next();
    const bool typed = place.type != &node_type<Variable>();
    const int found = find(trail, field, form, typed ? &field.kind() : nullptr, !typed);
    if (found == 0) misfits_.missing(trail.path(), field.kind(), form);
    if (found > 1) misfits_.twice(trail.path());
  }

  void check_all_met() const {
    if (!forms_.empty()) throw_other_copy();
  }

 private:
  [[noreturn]] static void throw_other_copy() {
    throw StateError("[merge] a copy of the module has other variables than the module itself.");
  }

  Forms::Reader forms_;
};

constexpr const char* misfit_message = " the state does not fit the module.";

}  // namespace

void update_variables(Node root, std::span<const State* const> states) {
  Updater updater(states);
  walk(root, updater);
  updater.finish("[update]" + std::string(misfit_message));
  updater.assign();
}

void fill_variables(Node root, const Forms& forms, std::span<const State* const> states) {
  Filler filler(states, forms);
  walk(root, filler);
  filler.check_all_met();
  filler.finish("[merge]" + std::string(misfit_message));
  filler.assign();
}

void check_same_form(const State& expected, const State& got, const char* operation) {
  Misfits misfits;
  auto entry = got.begin();
  for (const auto& [path, variable] : expected) {
    for (; entry != got.end() && entry->path < path; ++entry) misfits.unexpected(*entry);
    const Form form = form_of(variable.value());
    if (entry == got.end() || entry->path != path) {
      misfits.missing(path, variable.kind(), form);
      continue;
    }
    if (!fits(entry->variable, &variable.kind(), form)) {
      misfits.different(variable.kind(), form, *entry);
    }
    ++entry;
  }
  for (; entry != got.end(); ++entry) misfits.unexpected(*entry);
  misfits.throw_if_any("[" + std::string(operation) + "] the state does not fit.");
}

}  // namespace strata::internal
