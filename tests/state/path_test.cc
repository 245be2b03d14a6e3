// SPDX-License-Identifier: Apache-2.0
#include "strata/state/path.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <sstream>

#include "strata/tensor/error.h"

namespace strata {
namespace {

TEST(Key, AnIntegerIsNotItsDigits) {
  EXPECT_NE(Key(1), Key("1"));
  EXPECT_EQ(Key(1), Key(1U));
  EXPECT_EQ(Key("a"), Key(std::string("a")));
}

TEST(Key, IntegersComeFirstByNumberThenTextsByBytes) {
  const std::vector<Key> keys{-3, 2, 10, "", "10", "2", "A", "B", "_", "a", "a_", "z", "\xc3\xa9"};
  for (std::size_t i = 1; i < keys.size(); ++i) EXPECT_LT(keys[i - 1], keys[i]) << i;
}

TEST(Key, TextsThatWouldBeMisreadAreQuoted) {
  EXPECT_EQ(to_string(Key("")), "''");
  EXPECT_EQ(to_string(Key("10")), "'10'");
  EXPECT_EQ(to_string(Key("-3")), "'-3'");
  EXPECT_EQ(to_string(Key("a/b")), "'a/b'");
  EXPECT_EQ(to_string(Key("it's")), "'it\\'s'");
  EXPECT_EQ(to_string(Key("back\\slash")), "'back\\\\slash'");
}

TEST(Key, OtherTextsAreNot) {
  EXPECT_EQ(to_string(Key("if_")), "if_");
  EXPECT_EQ(to_string(Key("01")), "01");
  EXPECT_EQ(to_string(Key("-0")), "-0");
  EXPECT_EQ(to_string(Key("two words")), "two words");
  EXPECT_EQ(to_string(Key(-3)), "-3");
}

TEST(Path, RootIsEmpty) {
  EXPECT_TRUE(Path().empty());
  EXPECT_EQ(Path().depth(), 0);
  EXPECT_EQ(to_string(Path()), "");
  EXPECT_EQ(Path(std::vector<Key>{}), Path());
}

TEST(Path, PrintsKeysBetweenSlashes) {
  std::ostringstream out;
  out << Path{"encoder", 0, "kernel"};
  EXPECT_EQ(out.str(), "encoder/0/kernel");
}

TEST(Path, APathComesBeforeItsContinuations) {
  EXPECT_LT(Path(), Path{"a"});
  EXPECT_LT(Path{"a"}, (Path{"a", 0}));
  EXPECT_LT((Path{"a", "z"}), Path{"a_"});
  EXPECT_LT((Path{2, "z"}), (Path{10, "a"}));
}

TEST(Path, IsContinuedByAKeyOrAPath) {
  EXPECT_EQ((Path{"a"} / "b"), (Path{"a", "b"}));
  EXPECT_EQ((Path{"a"} / Path{1, "b"}), (Path{"a", 1, "b"}));
  EXPECT_EQ(Path() / Path(), Path());
}

TEST(Path, StartsWithItselfTheRootAndItsBeginnings) {
  const Path path{"a", 1, "b"};
  EXPECT_TRUE(path.starts_with(path));
  EXPECT_TRUE(path.starts_with(Path()));
  EXPECT_TRUE(path.starts_with(Path{"a", 1}));
  EXPECT_FALSE(path.starts_with(Path{"a", "1"}));
  EXPECT_FALSE((Path{"a"}.starts_with(path)));
}

TEST(PathParse, ReadsIntegersAndTexts) {
  EXPECT_EQ(Path::parse("encoder/0/kernel"), (Path{"encoder", 0, "kernel"}));
  EXPECT_EQ(Path::parse("-3"), Path{-3});
  EXPECT_EQ(Path::parse("heads/'0'/bias"), (Path{"heads", "0", "bias"}));
  EXPECT_EQ(Path::parse(""), Path());
  EXPECT_EQ(Path::parse("''"), Path{""});
}

TEST(PathParse, OnlyTheUsualSpellingIsAnInteger) {
  for (const char* text : {"01", "-0", "+1", "1_0", "1e3", " 4", "9223372036854775808"}) {
    EXPECT_FALSE(Path::parse(text)[0].is_integer()) << text;
  }
  EXPECT_EQ(Path::parse("9223372036854775807")[0].integer(), std::numeric_limits<Index>::max());
}

TEST(PathParse, ErrorsNameThePosition) {
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"a//b", "character 3"}, {"/a", "character 1"},  {"a/", "character 3"},  {"'a", "character 3"},
      {"'a'b", "character 4"}, {"a'b", "character 2"}, {"a\\b", "character 2"}};
  for (const auto& [text, position] : mistakes) {
    try {
      (void)Path::parse(text);
      ADD_FAILURE() << text;
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(position), std::string::npos) << error.what();
    }
  }
}

rc::Gen<Key> any_key() {
  return rc::gen::oneOf(rc::gen::map(rc::gen::arbitrary<Index>(), [](Index i) { return Key(i); }),
                        rc::gen::map(rc::gen::arbitrary<std::string>(), [](std::string s) { return Key(s); }),
                        rc::gen::element<Key>("", "0", "-1", "a/b", "'", "\\"));
}

RC_GTEST_PROP(PathProperty, ParseAfterPrintIsTheIdentity, ()) {
  const Path path(*rc::gen::container<std::vector<Key>>(any_key()));
  RC_ASSERT(Path::parse(to_string(path)) == path);
}

RC_GTEST_PROP(PathProperty, OrderIsTotal, ()) {
  const auto path = [] { return Path(*rc::gen::container<std::vector<Key>>(any_key())); };
  const Path a = path();
  const Path b = path();
  RC_ASSERT((a < b) + (b < a) + (a == b) == 1);
}

TEST(Path, PrintsAndReadsWhatIsNotPrintable) {
  const Path path{"a\n", "\x1b[31m", "\xff"};
  EXPECT_EQ(to_string(path), "'a\\n'/'\\x1b[31m'/'\\xff'");
  EXPECT_EQ(Path::parse(to_string(path)), path);
}

}  // namespace
}  // namespace strata
