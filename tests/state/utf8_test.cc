// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/utf8.h"

#include <gtest/gtest.h>

namespace strata::internal {
namespace {

// First and last code points of each length, and of the ranges around the surrogates (Unicode 15, table 3-7).
TEST(IsUtf8, AcceptsTheEndsOfEveryRange) {
  for (const char* text : {"", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa9z"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(IsUtf8, RefusesWhatLiesJustOutside) {
  for (const char* text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
                           "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(IsUtf8, RefusesSequencesThatStopEarly) {
  for (const char* text : {"\xc2", "\xe0\xa0", "\xf0\x90\x80", "\xc2z", "\xe1\x80z", "\xf1\x80\x80z", "\xe1\x80\xc0"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(NextCharacter, DecodesWhatIsUtf8) {
  EXPECT_EQ(to_characters("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"), U"a\u00e9\u20ac\U0001f600z");
}

// Each byte of an overlong form of `/`, of a surrogate, and of a code point above U+10FFFF.
TEST(NextCharacter, TakesEachOtherByteForACharacterOutsideOfUnicode) {
  for (const std::string_view text : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const std::u32string characters = to_characters(text);
    ASSERT_EQ(characters.size(), text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      EXPECT_EQ(characters[i], 0x110000 + static_cast<unsigned char>(text[i]));
    }
  }
}

}  // namespace
}  // namespace strata::internal
