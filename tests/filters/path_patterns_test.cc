// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/path_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool takes(const Filter& filter, const Path& path) { return filter(path, Param(ones({1}))); }
bool glob(const char* pattern, const Path& path) { return takes(path_glob(pattern), path); }

TEST(PathGlob, FitsWholePaths) {
  EXPECT_TRUE(glob("encoder/kernel", {"encoder", "kernel"}));
  EXPECT_FALSE(glob("encoder", {"encoder", "kernel"}));
  EXPECT_FALSE(glob("kernel", {"encoder", "kernel"}));
}

TEST(PathGlob, AStarStaysWithinOneKey) {
  EXPECT_TRUE(glob("enc*/kernel", {"encoder", "kernel"}));
  EXPECT_TRUE(glob("*", {""}));
  EXPECT_FALSE(glob("enc*", {"encoder", "kernel"}));
  EXPECT_TRUE(glob("*er*el", {"xerxeyel"}));
  EXPECT_FALSE(glob("*er*el", {"xerxeye"}));
}

TEST(PathGlob, TwoStarsStandForAnyNumberOfKeys) {
  EXPECT_TRUE(glob("encoder/**/kernel", {"encoder", "kernel"}));
  EXPECT_TRUE(glob("encoder/**/kernel", {"encoder", 0, "dense", "kernel"}));
  EXPECT_FALSE(glob("encoder/**/kernel", {"encoder", 0, "bias"}));
  EXPECT_TRUE(glob("**", Path()));
  EXPECT_TRUE(glob("**/a/**/b", {"x", "a", "b", "a", "y", "b"}));
}

TEST(PathGlob, QuestionMarksAreOneCharacter) {
  EXPECT_TRUE(glob("conv?", {"conv1"}));
  EXPECT_FALSE(glob("conv?", {"conv"}));
  EXPECT_TRUE(glob("?", {"é"}));
}

TEST(PathGlob, ClassesOfCharacters) {
  EXPECT_TRUE(glob("block[0-3x]", {"block2"}));
  EXPECT_TRUE(glob("block[0-3x]", {"blockx"}));
  EXPECT_FALSE(glob("block[!0-3x]", {"block2"}));
  EXPECT_TRUE(glob("[]]", {"]"}));
  EXPECT_TRUE(glob("[a-]", {"-"}));
  EXPECT_TRUE(glob("[à-ü]", {"é"}));
  EXPECT_TRUE(glob("a[*]", {"a*"}));
  EXPECT_FALSE(glob("a[*]", {"ab"}));
  EXPECT_TRUE(glob("a[/]b", {"a/b"}));
}

TEST(PathGlob, IntegersAreDigits) {
  EXPECT_TRUE(glob("blocks/1?", {"blocks", 12}));
  EXPECT_TRUE(glob("blocks/12", {"blocks", 12}));
  EXPECT_TRUE(glob("blocks/12", {"blocks", "12"}));
}

TEST(PathGlob, EmptyKeysAndTheRoot) {
  EXPECT_TRUE(glob("", Path()));
  EXPECT_FALSE(glob("", {""}));
  EXPECT_TRUE(glob("a//b", {"a", "", "b"}));
}

TEST(PathGlob, ReadsBytesThatAreNoUtf8) {
  EXPECT_TRUE(glob("a?", {std::string("a\xFF")}));
  EXPECT_TRUE(glob("*\xFF", {std::string("a\xFF")}));
  EXPECT_FALSE(glob("?\xC3", {std::string("a\xC3\xA9")}));
  EXPECT_FALSE(glob("?", {std::string("\xC0\xAF")}));  // no overlong `/`, but two stray bytes
}

TEST(PathGlob, HostilePatternsTakeNoMoreThanTheProductOfTheLengths) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(glob((pattern + "b").c_str(), {std::string(10'000, 'a')}));
  std::string keys = "**/a";
  for (int i = 0; i < 20; ++i) keys += "/**/a";
  EXPECT_FALSE(glob((keys + "/b").c_str(), Path(std::vector<Key>(1000, "a"))));
}

TEST(PathGlob, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT([] { (void)path_glob("a/[b"); },
              ThrowsMessage<FilterError>(HasSubstr("[path_glob] the closing `]` is missing, at character 3")));
  EXPECT_THROW((void)path_glob("a**"), FilterError);
  EXPECT_THROW((void)path_glob("[z-a]"), FilterError);
}

TEST(PathRegex, IsFoundAnywhereInThePrintedPath) {
  EXPECT_TRUE(takes(path_regex("kern"), {"encoder", "kernel"}));
  EXPECT_TRUE(takes(path_regex("^encoder/[0-9]+/(kernel|bias)$"), {"encoder", 12, "bias"}));
  EXPECT_FALSE(takes(path_regex("^kernel"), {"encoder", "kernel"}));
  EXPECT_TRUE(takes(path_regex("heads/'0'"), {"heads", "0"}));  // as it is printed
  EXPECT_TRUE(takes(path_regex(""), Path()));
}

TEST(PathRegex, HostilePatternsAreLinearOrRefused) {
  EXPECT_FALSE(takes(path_regex("(a*)*(a*)*b"), {std::string(100'000, 'a')}));
  EXPECT_THAT([] { (void)path_regex("((((a{100}){100}){100}){100})"); },
              ThrowsMessage<FilterError>(HasSubstr("[path_regex]")));
  EXPECT_THROW((void)path_regex("(x+x+)\\1"), FilterError);
}

}  // namespace
}  // namespace strata
