// SPDX-License-Identifier: Apache-2.0
#include "tree.h"

#include <strata/strata.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "output.h"

namespace strata::apps {
namespace {

struct TreeArguments {
  std::string file;
  std::vector<std::string> filters;
  std::string html;
  bool explains = false;
  bool shows_table = false;
};

std::vector<Filter> parse_filters(const std::vector<std::string>& texts) {
  std::vector<Filter> filters;
  for (const std::string& text : texts) filters.push_back(parse_filter(text));
  return filters;
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream out(name, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw IoError("[strata tree] cannot write " + name + ": " + std::generic_category().message(errno) + ".");
}

void print_groups(const State& state, const std::vector<Filter>& filters) {
  const std::vector<State> groups = split_groups(state, filters, Leftover::drop);
  Index taken = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    taken += groups[i].size();
    print("group " + std::to_string(i) + ": " + to_string(filters[i]) + "\n" + nn::tree(groups[i]) + "\n");
  }
  const Index left = state.size() - taken;
  if (left > 0) print("no group: " + std::to_string(left) + (left == 1 ? " variable\n" : " variables\n"));
}

void run_tree(const TreeArguments& arguments) {
  // The kinds of the file first: filters may name them.
  const State state = checkpoint::restore(arguments.file, {.add_unknown_kinds = true});
  const std::vector<Filter> filters = parse_filters(arguments.filters);
  if (!arguments.html.empty()) {
    write_file(arguments.html, nn::html(state, {.title = arguments.file, .filters = filters}));
  }
  if (arguments.explains) {
    print(to_string(explain(state, filters)));
  } else if (arguments.shows_table) {
    print(to_string(nn::table(state, {.filters = filters})));
  } else if (arguments.html.empty()) {
    filters.empty() ? print(nn::tree(state)) : print_groups(state, filters);
  }
}

}  // namespace

void add_tree_command(CLI::App& app, std::function<void()>& run) {
  const auto arguments = std::make_shared<TreeArguments>();
  CLI::App& tree = *app.add_subcommand("tree", "Show a saved state as a tree, table or web page.");
  tree.footer(
      "A filter is a text such as  Param & path('encoder') & !tag('lora').  Several are an ordered split: the\n"
      "first that takes a variable gets it. `rest` takes what is left. Quote filters against the shell.\n\n"
      "Exit status: 0; 1 if the file cannot be read or a filter is wrong; 2 for wrong arguments.");
  tree.add_option("file", arguments->file, "A state that Strata or Dopamine saved")->required()->type_name("FILE");
  tree.add_option("-f,--filter", arguments->filters, "Show the variables that this filter takes; may be repeated")
      ->type_name("FILTER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  CLI::Option* explain = tree.add_flag("--explain", arguments->explains, "Say which filter takes what, and why");
  explain->needs("--filter");
  tree.add_flag("--table", arguments->shows_table, "A line for each variable, and sums")->excludes(explain);
  tree.add_option("--html", arguments->html, "Write a web page that folds, searches and colours the tree")
      ->type_name("OUT");
  tree.callback([arguments, &run] { run = [arguments] { run_tree(*arguments); }; });
}

}  // namespace strata::apps
