// SPDX-License-Identifier: Apache-2.0
//
// Runs the command on files that the tests write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <strata/strata.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace strata {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int status;
  std::string output;  // and what went to the standard error
};

class StrataTree : public testing::Test {
 protected:
  StrataTree() {
    std::string name = testing::TempDir() + "strata-XXXXXX";
    folder_ = mkdtemp(name.data());
    register_kind(kind_of<Adapter>());
    checkpoint::save(file("model"), state_);
  }
  ~StrataTree() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static Outcome run(const std::string& arguments) { return run_shell(command() + " " + arguments); }
  static std::string command() { return "'" STRATA_COMMAND "'"; }

  static Outcome run_shell(const std::string& line) {
    Outcome outcome;
    FILE* pipe = popen(("exec 2>&1; " + line).c_str(), "r");
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      outcome.output.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  // A kind that the command does not know.
  struct Adapter : Param {
    STRATA_KIND(Adapter, Param)
  };

  State state_{{{"encoder", 0, "bias"}, Param(zeros({64}))},
               {{"encoder", 0, "kernel"}, Param(zeros({12, 64}), tagged("lora"))},
               {{"head", "kernel"}, Adapter(zeros({2}))},
               {{"norm", "mean"}, BatchStat(zeros({64}))}};
  std::filesystem::path folder_;
};

TEST_F(StrataTree, ShowsTheState) {
  const Outcome outcome = run("tree " + file("model"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, nn::tree(state_));
}

TEST_F(StrataTree, ShowsTheGroupsOfASplit) {
  const Outcome outcome = run("tree " + file("model") + " --filter \"tag('lora')\" -f Param");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            "group 0: tag('lora')\n"
            "                 State                                    768\n"
            "└─ encoder                                                768\n"
            "   └─ 0                                                   768\n"
            "      └─ kernel  Param float32[12, 64]  tag='lora'        768\n"
            "\n"
            "group 1: Param\n"
            "               State                     64\n"
            "└─ encoder                               64\n"
            "   └─ 0                                  64\n"
            "      └─ bias  Param float32[64]         64\n"
            "\n"
            "no group: 2 variables\n");
}

TEST_F(StrataTree, KnowsTheKindsOfTheFile) {
  const Outcome outcome = run("tree " + file("model") + " --filter Adapter");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("kernel  Adapter float32[2]"), HasSubstr("no group: 3 variables")));
}

TEST_F(StrataTree, Explains) {
  const Outcome outcome = run("tree " + file("model") + " --explain -f Param -f \"tag('lroa')\"");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("because of"), HasSubstr("Did you mean `lora`?")));
}

TEST_F(StrataTree, ShowsATable) {
  const Outcome outcome = run("tree " + file("model") + " --table --filter BatchStat");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.find("path "), 0U);
  EXPECT_THAT(outcome.output, HasSubstr("group 0: BatchStat"));
}

TEST_F(StrataTree, WritesAPage) {
  const Outcome outcome = run("tree " + file("model") + " --html " + file("page.html") + " --filter Param");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "");
  std::ifstream in(file("page.html"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(page, AllOf(HasSubstr("\"filters\":[\"Param\"]"), HasSubstr("</html>")));
}

TEST_F(StrataTree, PointsAtMistakesInFilters) {
  const Outcome outcome = run("tree " + file("model") + " --filter \"Param & pth('a')\"");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("  Param & pth('a')\n          ^~~\n"));
}

TEST_F(StrataTree, FailsOnBadInput) {
  std::ofstream(file("broken")) << "no state";
  std::ofstream(file("empty"));
  for (const std::string& arguments :
       {file("missing"), file("broken"), file("empty"), std::string("/"), file("model") + " -f rest -f Param",
        file("model") + " --html /no/such/folder/page.html"}) {
    const Outcome outcome = run("tree " + arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_THAT(outcome.output, testing::StartsWith("strata: [")) << arguments;
  }
}

TEST_F(StrataTree, RefusesWrongUsage) {
  for (const std::string& arguments :
       {std::string(), std::string("tree"), std::string("teer x"), "tree --explain " + file("model"),
        "tree --colour " + file("model"), "tree " + file("model") + " second", "tree " + file("model") + " --filter"}) {
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  }
}

TEST_F(StrataTree, Helps) {
  const Outcome all = run("--help");
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.output, HasSubstr("tree"));
  const Outcome tree = run("tree --help");
  EXPECT_EQ(tree.status, 0);
  EXPECT_THAT(tree.output,
              AllOf(HasSubstr("--filter"), HasSubstr("--explain"), HasSubstr("--html"), HasSubstr("--table")));
}

TEST_F(StrataTree, AReaderMayLeave) {
  std::vector<State::Entry> entries;
  for (Index i = 0; i < 20'000; ++i) entries.push_back({{i, "kernel"}, Param(zeros({1}))});
  checkpoint::save(file("large"), State(std::move(entries)));
  const Outcome closed =
      run_shell("{ { " + command() + " tree " + file("large") + "; echo status $? >&3; } | true; } 3>&1");
  EXPECT_EQ(closed.output, "status 0\n");
}

TEST_F(StrataTree, PrintsNoControlCharacters) {
  static const Kind kind("K\x1b[2J", &kind_of<Variable>());
  register_kind(kind);
  checkpoint::save(file("hostile"), State{{{"a\x1b[31m\n"}, Variable(kind, zeros({1}), tagged("\x07"))}});
  for (const char* options :
       {"", " --table", " --explain -f everything", " -f \"tag('x')\"", " -f nothing --explain"}) {
    const Outcome outcome = run("tree " + file("hostile") + options);
    EXPECT_EQ(outcome.status, 0) << options;
    EXPECT_EQ(outcome.output.find_first_of("\x1b\x07"), std::string::npos) << options;
  }
}

}  // namespace
}  // namespace strata
