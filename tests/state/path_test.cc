// SPDX-License-Identifier: Apache-2.0
#include "strata/state/path.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "strata/tensor/error.h"

namespace strata {
namespace {

TEST(Key, AnIntegerIsNotItsDigits) {
  EXPECT_NE(Key(1), Key("1"));
  EXPECT_EQ(Key(1), Key(1U));
  EXPECT_EQ(Key("a"), Key(std::string("a")));
}

TEST(Key, LargerNumbersAreRefused) {
  EXPECT_EQ(Key(std::uint64_t{9223372036854775807U}), Key(std::numeric_limits<Index>::max()));
  EXPECT_THROW(Key(std::uint64_t{9223372036854775808U}), ValueError);
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

// Keys of few different kinds, so that paths often share a beginning.
std::vector<Key> few_keys() { return *rc::gen::container<std::vector<Key>>(rc::gen::element<Key>(0, 1, "a", "b")); }

RC_GTEST_PROP(PathProperty, IsOrderedAsItsKeysAre, ()) {
  const std::vector<Key> left = few_keys();
  const std::vector<Key> right = few_keys();
  const auto order = std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end());
  RC_ASSERT((Path(left) <=> Path(right)) == order);
  RC_ASSERT((Path(left) == Path(right)) == (order == 0));
}

RC_GTEST_PROP(PathProperty, ReadsItsKeysInAnyOrder, ()) {
  const std::vector<Key> keys = few_keys();
  const Path path(keys);
  RC_ASSERT(std::vector<Key>(path.begin(), path.end()) == keys);
  const auto depth = *rc::gen::inRange<std::size_t>(0, keys.size() + 1);
  const Path prefix = path.prefix(static_cast<int>(depth));
  RC_ASSERT(prefix == Path(std::span(keys).first(depth)));
  RC_ASSERT(path.starts_with(prefix));
  if (depth < keys.size()) RC_ASSERT(path[static_cast<int>(depth)] == keys[depth]);
}

// As many keys as would overflow the stack if anything recursed, and as would take hours if anything were quadratic.
TEST(Path, MayBeLong) {
  constexpr int length = 100000;
  Path path;
  for (int i = 0; i < length; ++i) path = path / Key(i);
  EXPECT_EQ(path.depth(), length);
  EXPECT_EQ(path[length / 3], Key(length / 3));
  int position = 0;
  for (const Key& key : path) ASSERT_EQ(key, Key(position++));
  EXPECT_LT(path, path / Key("more"));
  EXPECT_EQ(Path::parse(to_string(path)), path);
}

TEST(Path, OutlivesTheOneThatItContinues) {
  auto parent = std::make_unique<Path>(Path{"encoder", 3});
  const Path child = *parent / Key("kernel");
  parent.reset();
  EXPECT_EQ(to_string(child), "encoder/3/kernel");
}

TEST(Path, IsCopiedInSeveralThreads) {
  const Path shared{"encoder", 3, "kernel"};
  const auto copy_often = [&] {
    for (int i = 0; i < 1000; ++i) {
      const Path copy = shared.prefix(2) / Key(i);
      EXPECT_TRUE(copy.starts_with(shared.prefix(1)));
    }
  };
  std::thread other(copy_often);
  copy_often();
  other.join();
}

// docs/architecture.md tells these figures.
TEST(Path, TakesTheMemoryOfAPointer) {
  EXPECT_EQ(sizeof(Path), 8U);
  EXPECT_EQ(sizeof(internal::PathNode), 64U);
}

TEST(Path, PrintsAndReadsWhatIsNotPrintable) {
  const Path path{"a\n", "\x1b[31m", "\xff"};
  EXPECT_EQ(to_string(path), "'a\\n'/'\\x1b[31m'/'\\xff'");
  EXPECT_EQ(Path::parse(to_string(path)), path);
}

}  // namespace
}  // namespace strata
