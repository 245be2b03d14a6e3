// SPDX-License-Identifier: Apache-2.0
#include "strata/tensor/cpu.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "strata/tensor/error.h"
#include "strata/tensor/internal/simd.h"

namespace strata {
namespace {

class InstructionSet : public testing::Test {
 protected:
  ~InstructionSet() override { internal::limit_instruction_set(before_); }

 private:
  std::string_view before_ = instruction_set();
};

TEST_F(InstructionSet, EveryAvailableLevelCanBeChosen) {
  const std::vector<std::string_view> names = internal::available_instruction_sets();
  ASSERT_FALSE(names.empty());
  for (const std::string_view name : names) {
    internal::limit_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
  }
}

TEST_F(InstructionSet, TheLowestLevelIsKnownEverywhere) {
  internal::limit_instruction_set("baseline");
  EXPECT_EQ(instruction_set(), internal::available_instruction_sets().back());
}

TEST_F(InstructionSet, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  const std::string_view before = instruction_set();
  try {
    internal::limit_instruction_set("mmx");
    FAIL() << "no exception";
  } catch (const ValueError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"mmx\""), std::string::npos) << text;
    for (const std::string_view name : internal::available_instruction_sets()) {
      EXPECT_NE(text.find(name), std::string::npos) << text;
    }
  }
  EXPECT_EQ(instruction_set(), before);
}

}  // namespace
}  // namespace strata
