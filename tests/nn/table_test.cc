// SPDX-License-Identifier: Apache-2.0
#include "strata/nn/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "strata/tensor/create.h"
#include "strata/tensor/error.h"

namespace strata::nn {
namespace {

using testing::HasSubstr;

struct Small {
  Param kernel{zeros({2, 3}), tagged("lora")};
  LoRAParam low{zeros({2})};
  BatchStat mean{zeros({3})};
  Variable step{zeros({}, DType::int32)};
  STRATA_FIELDS(kernel, low, mean, step)
};

TEST(Table, ListsVariablesAndSums) {
  EXPECT_EQ(to_string(table(Small(), {.filters = {path_contains("kernel"), of_type<Param>}})),
            "path    kind       dtype    shape   elements  bytes  group  metadata\n"
            "kernel  Param      float32  [2, 3]         6   24 B  0      tag='lora'\n"
            "low     LoRAParam  float32  [2]            2    8 B  1\n"
            "mean    BatchStat  float32  [3]            3   12 B  -\n"
            "step    Variable   int32    []             1    4 B  -\n"
            "\n"
            "total of                 variables  elements  bytes\n"
            "BatchStat                        1         3   12 B\n"
            "LoRAParam                        1         2    8 B\n"
            "Param                            1         6   24 B\n"
            "Variable                         1         1    4 B\n"
            "group 0: path('kernel')          1         6   24 B\n"
            "group 1: Param                   1         2    8 B\n"
            "no filter                        2         4   16 B\n"
            "trainable                        2         8   32 B\n"
            "all                              4        12   48 B\n");
}

TEST(Table, IsAValue) {
  const Table value = table(Small(), {.filters = {of_type<Param>}});
  ASSERT_EQ(value.rows.size(), 4U);
  EXPECT_EQ(value.rows[0].path, Path{"kernel"});
  EXPECT_EQ(value.rows[0].group, 0U);
  EXPECT_EQ(value.rows[3].group, std::nullopt);
  EXPECT_EQ(value.groups, (std::vector<Table::Total>{{"Param", 2, 8, 32}}));
  EXPECT_EQ(value.unmatched, (Table::Total{"no filter", 2, 4, 16}));
  EXPECT_EQ(value.trainable, (Table::Total{"trainable", 2, 8, 32}));
  EXPECT_EQ(value.all, (Table::Total{"all", 4, 12, 48}));
}

TEST(Table, CountsSharedVariablesOnceAtTheirFirstPath) {
  struct Tied {
    std::shared_ptr<Param> b = std::make_shared<Param>(zeros({4}));
    std::shared_ptr<Param> a = b;
    STRATA_FIELDS(b, a)
  };
  const Table value = table(Tied());
  ASSERT_EQ(value.rows.size(), 1U);
  EXPECT_EQ(value.rows[0].path, Path{"a"});
  EXPECT_EQ(value.all.elements, 4);
}

TEST(Table, OfNothing) { EXPECT_EQ(table(State()).all, (Table::Total{"all", 0, 0, 0})); }

TEST(Table, RefusesFiltersBehindRest) {
  EXPECT_THROW((void)table(Small(), {.filters = {rest, of_type<Param>}}), FilterError);
}

TEST(Table, EscapesWhatIsNotPrintable) {
  static const Kind kind("K\x1b", &kind_of<Variable>());
  const std::string text = to_string(table(State{{{"a\n"}, Variable(kind, zeros({1}), tagged("\x1b"))}}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("'a\\n'  K\\x1b"));
}

TEST(ByteText, HasUnitsOfAThousandAndOneDecimal) {
  EXPECT_EQ(byte_text(0), "0 B");
  EXPECT_EQ(byte_text(999), "999 B");
  EXPECT_EQ(byte_text(1000), "1.0 KB");
  EXPECT_EQ(byte_text(16292), "16.3 KB");
  EXPECT_EQ(byte_text(999'949), "999.9 KB");
  EXPECT_EQ(byte_text(999'950), "1.0 MB");
  EXPECT_EQ(byte_text(2'500'000'000), "2.5 GB");
  EXPECT_EQ(byte_text(7'000'000'000'000), "7000.0 GB");
}

}  // namespace
}  // namespace strata::nn
