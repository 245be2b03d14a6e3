// SPDX-License-Identifier: Apache-2.0
#include "strata/filters/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "filters/random_filters.h"
#include "strata/state/kind_registry.h"

namespace strata {
namespace {

using testing::HasSubstr;

struct Adapter : Param {
  STRATA_KIND(Adapter, Param)
};

// The message and column of the error that the text causes.
std::pair<std::string, std::size_t> error_of(std::string_view text) {
  try {
    (void)parse_filter(text);
  } catch (const FilterTextError& error) {
    return {error.what(), error.column()};
  }
  ADD_FAILURE() << "no error for " << text.substr(0, 100);
  return {};
}

TEST(ParseFilter, TheFilterOfTheDesign) {
  EXPECT_EQ(parse_filter("Param & path('encoder') & !tag('lora')"),
            (of_type<Param> && path_contains("encoder") && !with_tag("lora")));
}

TEST(ParseFilter, Constants) {
  EXPECT_EQ(parse_filter("everything"), everything);
  EXPECT_EQ(parse_filter("nothing"), nothing);
  EXPECT_TRUE(parse_filter(" rest ").is_rest());
}

TEST(ParseFilter, Kinds) {
  EXPECT_EQ(parse_filter("LoRAParam"), of_type<LoRAParam>);
  EXPECT_EQ(parse_filter("kind('LoRAParam')"), of_type<LoRAParam>);
}

TEST(ParseFilter, KindsOfOnesOwnAfterOneLine) {
  register_kind(kind_of<Adapter>());
  EXPECT_EQ(parse_filter("Adapter"), of_type<Adapter>);
  EXPECT_EQ(parse_filter(to_string(of_type<Adapter>)), of_type<Adapter>);
}

TEST(ParseFilter, KindsWithNamesThatAreNoWordsOrMeanSomethingElse) {
  static const Kind qualified("robot::Adapter", &kind_of<Param>());
  static const Kind odd("two words", &kind_of<Param>());
  static const Kind reserved("size", &kind_of<Param>());
  for (const Kind* kind : {&qualified, &odd, &reserved}) {
    register_kind(*kind);
    EXPECT_EQ(parse_filter(to_string(of_kind(*kind))), of_kind(*kind));
  }
  EXPECT_EQ(to_string(of_kind(qualified)), "robot::Adapter");
  EXPECT_EQ(to_string(of_kind(odd)), "kind('two words')");
  EXPECT_EQ(to_string(of_kind(reserved)), "kind('size')");
}

// Section 5 of the reference behaviour: the five names that Flax knows.
TEST(ParseFilter, FlaxNamesOfKinds) {
  EXPECT_EQ(parse_filter("params | batch_stats"), (of_type<Param> || of_type<BatchStat>));
  EXPECT_EQ(parse_filter("cache"), of_type<Cache>);
  EXPECT_EQ(parse_filter("intermediates"), of_type<Intermediate>);
  EXPECT_EQ(parse_filter("perturbations"), of_type<Perturbation>);
}

TEST(ParseFilter, Paths) {
  EXPECT_EQ(parse_filter("path('3')"), path_contains("3"));
  EXPECT_EQ(parse_filter("path(3)"), path_contains(3));
  EXPECT_EQ(parse_filter("path(-3)"), path_contains(-3));
  EXPECT_EQ(parse_filter("path_like('enc')"), path_like("enc"));
  EXPECT_EQ(parse_filter("path_in('blocks/3', \"fc1\")"), path_in({{"blocks", 3}, {"fc1"}}));
  EXPECT_EQ(parse_filter("path_in()"), path_in({}));
  EXPECT_EQ(parse_filter("glob('encoder/**/kernel')"), path_glob("encoder/**/kernel"));
  EXPECT_EQ(parse_filter("regex('[0-9]+$')"), path_regex("[0-9]+$"));
}

TEST(ParseFilter, Tensors) {
  EXPECT_EQ(parse_filter("dtype(float32, bfloat16)"), of_dtype({DType::float32, DType::bfloat16}));
  EXPECT_EQ(parse_filter("shape(*, 64)"), of_shape({any_size, 64}));
  EXPECT_EQ(parse_filter("shape(**, 3, 3)"), of_shape({any_sizes, 3, 3}));
  EXPECT_EQ(parse_filter("shape()"), of_shape({}));
  EXPECT_EQ(parse_filter("size >= 1000"), of_size >= 1000);
  EXPECT_EQ(parse_filter("rank==2"), of_rank == 2);
  EXPECT_EQ(parse_filter("rank != 2 & size < 9"), (of_rank != 2 && of_size < 9));
}

TEST(ParseFilter, NegationBindsBeforeAndBeforeOr) {
  const Filter a = with_tag("a");
  const Filter b = with_tag("b");
  const Filter c = with_tag("c");
  EXPECT_EQ(parse_filter("tag('a') | tag('b') & tag('c')"), (a || (b && c)));
  EXPECT_EQ(parse_filter("(tag('a') | tag('b')) & tag('c')"), ((a || b) && c));
  EXPECT_EQ(parse_filter("!tag('a') & tag('b')"), (!a && b));
  EXPECT_EQ(parse_filter("!rank == 2"), !(of_rank == 2));
}

TEST(ParseFilter, OperatorsAssociateToTheLeftAndListsStayLists) {
  const Filter a = with_tag("a");
  EXPECT_EQ(parse_filter("tag('a') & tag('a') & tag('a')"), all(all(a, a), a));
  EXPECT_EQ(parse_filter("all(tag('a'), tag('a'), tag('a'))"), all(a, a, a));
  EXPECT_EQ(parse_filter("any()"), any());
  EXPECT_EQ(parse_filter("((tag('a')))"), a);
}

TEST(ParseFilter, TextsInQuotes) {
  EXPECT_EQ(parse_filter(R"(tag('it\'s'))"), with_tag("it's"));
  EXPECT_EQ(parse_filter(R"(tag("it's"))"), with_tag("it's"));
  EXPECT_EQ(parse_filter(R"(tag('\n\t\r\x41\\'))"), with_tag("\n\t\rA\\"));
  EXPECT_EQ(parse_filter(R"(regex('\d\.'))"), path_regex(R"(\d\.)"));
  EXPECT_EQ(parse_filter("tag('größe')"), with_tag("größe"));
}

TEST(ParseFilterError, PointsAtTheCharacter) {
  EXPECT_STREQ(error_of("Param & )").first.c_str(),
               "[parse_filter] expected a filter, got `)`, at column 9:\n"
               "  Param & )\n"
               "          ^");
}

struct Mistake {
  const char* text;
  std::size_t column;
  const char* message;

  friend std::ostream& operator<<(std::ostream& out, const Mistake& mistake) { return out << mistake.text; }
};

class ParseFilterMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(ParseFilterMistakes, AreNamedWithTheirColumn) {
  const auto [message, column] = error_of(GetParam().text);
  EXPECT_EQ(column, GetParam().column);
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseFilterMistakes,
    testing::Values(
        Mistake{"", 1, "expected a filter, got the end of the text"},
        Mistake{"Param &", 8, "expected a filter, got the end of the text"},
        Mistake{"Parm", 1, "no kind is named `Parm`, at column 1:\n  Parm\n  ^~~~\nDid you mean `Param`"},
        Mistake{"evrything", 1, "Did you mean `everything`?"}, Mistake{"kind('Parm')", 6, "Did you mean `Param`"},
        Mistake{"Param | BatchStats", 9, "Did you mean `BatchStat` or `batch_stats`"},
        Mistake{"tags('a')", 1, "there is no function `tags`"}, Mistake{"pathlike('a')", 1, "Did you mean `path_like`"},
        Mistake{"Param('a')", 1, "`Param` takes no parentheses"}, Mistake{"rest()", 1, "`rest` takes no parentheses"},
        Mistake{"tag", 1, "`tag` needs parentheses"}, Mistake{"tag(a)", 5, "expected a text in quotes, got `a`"},
        Mistake{"tag('a'", 8, "expected `)`, got the end"}, Mistake{"tag('a', 'b')", 8, "expected `)`, got `,`"},
        Mistake{"tag('a", 5, "the closing quote is missing"}, Mistake{"path(x)", 6, "expected an integer, got `x`"},
        Mistake{"path(99999999999999999999)", 6, "does not fit 64 bits"},
        Mistake{"path_in('a//b')", 9, "this is no path"}, Mistake{"glob('a/[b')", 9, "the closing `]` is missing"},
        Mistake{R"(glob('\\\'/[b'))", 12, "the closing `]` is missing"},
        Mistake{"glob('a**')", 8, "`**` stands for whole keys"}, Mistake{"regex('a(')", 8, "missing )"},
        Mistake{"regex('(a{1000}){1000}')", 10, "invalid repetition"},
        Mistake{"dtype(float33)", 7, "Did you mean `float32`"}, Mistake{"dtype(3)", 7, "expected an element type"},
        Mistake{"shape(-1)", 7, "an axis has no negative size"},
        Mistake{"size = 3", 6, "expected ==, !=, <, <=, > or >=, got `=`"},
        Mistake{"size >= x", 9, "expected an integer, got `x`"},
        Mistake{"Param Param", 7, "expected `&`, `|` or the end of the text, got `Param`"},
        Mistake{"Param && Param", 8, "And is written `&`"}, Mistake{"(Param", 7, "expected `)`"},
        Mistake{"Param)", 6, "expected `&`, `|` or the end"}, Mistake{"any(Param,)", 11, "expected a filter"},
        Mistake{"predicate & Param", 1, "a function in a program, which a text cannot name"},
        Mistake{"tag('é') & é", 12, "expected a filter, got `é`"}));

TEST(ParseFilterError, CutsLongTexts) {
  const std::string text = std::string(1000, ' ') + "?" + std::string(1000, ' ');
  const auto [message, column] = error_of(text);
  EXPECT_EQ(column, 1001U);
  EXPECT_LT(message.size(), 400U);
}

TEST(ParseFilterError, UnknownKindsSayHowTheyBecomeKnown) {
  EXPECT_THAT(error_of("Unheard").first, HasSubstr("after strata::register_kind"));
}

TEST(ParseFilterDepth, AMillionParenthesesAreAnError) {
  const std::string many(1'000'000, '(');
  EXPECT_THAT(error_of(many).first, HasSubstr("more than 1000 levels"));
  EXPECT_THAT(error_of(std::string(1'000'000, '!') + "Param").first, HasSubstr("more than 1000 levels"));
  std::string calls;
  for (int i = 0; i < 100'000; ++i) calls += "any(";
  EXPECT_THAT(error_of(calls).first, HasSubstr("more than 1000 levels"));
  std::string chain = "Param";
  for (int i = 0; i < 100'000; ++i) chain += "|Param";
  EXPECT_THAT(error_of(chain).first, HasSubstr("any(...)"));
}

TEST(ParseFilterDepth, LongListsAreNotDeep) {
  std::string list = "any(Param";
  for (int i = 0; i < 100'000; ++i) list += ",Param";
  EXPECT_EQ(parse_filter(list + ")"), any(std::vector<Filter>(100'001, of_type<Param>)));
}

TEST(ParseFilterDepth, TheDeepestFiltersArePrintedAndReadBack) {
  Filter negations = of_type<Param>;
  Filter right = of_type<Param>;
  Filter left = of_type<Param>;
  Filter lists = of_type<Param>;
  for (int level = 2; level <= 1000; ++level) {
    negations = !negations;
    right = of_type<Param> && right;
    left = left || of_type<Param>;
    lists = any(lists);
  }
  for (const Filter& filter : {negations, right, left, lists}) EXPECT_EQ(parse_filter(to_string(filter)), filter);
}

RC_GTEST_PROP(ParseFilterProperty, ReadsWhatToStringWrites, ()) {
  const Filter filter = testing_filters::any_filter();
  RC_ASSERT(parse_filter(to_string(filter)) == filter);
}

RC_GTEST_PROP(ParseFilterProperty, AnyTextIsAFilterOrAnError, ()) {
  const auto piece =
      rc::gen::element<std::string>("(", ")", "!", "&", "|", ",", "'", "\"", "\\", "*", " ", "Param", "tag", "any",
                                    "shape", "size", "==", "3", "-", "path", "é", "[", "]");
  std::string text;
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  try {
    const Filter filter = parse_filter(text);
    RC_ASSERT(parse_filter(to_string(filter)) == filter);
  } catch (const FilterTextError& error) {
    RC_ASSERT(error.column() >= 1U);
    RC_ASSERT(error.column() <= text.size() + 1);
  }
}

}  // namespace
}  // namespace strata
