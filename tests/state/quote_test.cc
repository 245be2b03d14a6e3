// SPDX-License-Identifier: Apache-2.0
#include "strata/state/internal/quote.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "strata/state/path.h"

namespace strata::internal {
namespace {

TEST(Escape, LeavesWhatIsPrintable) {
  EXPECT_EQ(escape("a/b 'c' \\ é 漢 😀"), "a/b 'c' \\ é 漢 😀");
  EXPECT_TRUE(is_printable("a/b 'c' \\ é 漢 😀"));
}

TEST(Escape, ShowsWhatIsNot) {
  EXPECT_EQ(escape("\n\t\r"), "\\n\\t\\r");
  EXPECT_EQ(escape(std::string_view("\0\x1b\x7f", 3)), "\\x00\\x1b\\x7f");
  EXPECT_EQ(escape("\xc2\x9b"), "\\xc2\\x9b");           // U+009B, which begins control sequences
  EXPECT_EQ(escape("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // U+202E, which turns the direction
  EXPECT_EQ(escape("\xff\xc3"), "\\xff\\xc3");           // no UTF-8
  EXPECT_EQ(escape("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");  // longer than need be
  EXPECT_EQ(escape("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
}

TEST(QuoteText, EscapesQuotesAndBackslashes) { EXPECT_EQ(quote_text("it's \\ \n"), "'it\\'s \\\\ \\n'"); }

TEST(ReadEscape, LeavesOtherBackslashes) {
  std::size_t position = 0;
  EXPECT_FALSE(read_escape("\\d", position));
  EXPECT_FALSE(read_escape("\\x1", position));
  EXPECT_FALSE(read_escape("\\", position));
  EXPECT_EQ(position, 0U);
}

RC_GTEST_PROP(PathProperty, AnyBytesArePrintedPrintablyAndReadBack, (const std::vector<std::string>& texts)) {
  const Path path(std::vector<Key>(texts.begin(), texts.end()));
  RC_ASSERT(is_printable(to_string(path)));
  RC_ASSERT(Path::parse(to_string(path)) == path);
}

}  // namespace
}  // namespace strata::internal
