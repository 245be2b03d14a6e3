# SPDX-License-Identifier: Apache-2.0
# Makes a program of the code blocks of a Markdown page: cmake -D PAGE=... -D OUTPUT=... -P extract_examples.cmake
#
# Blocks that define a type go before main; a block with a main of its own becomes a program of its own, whose text is
# OUTPUT; all other blocks are the statements of main, in the order of the page.
file(READ ${PAGE} rest)
string(REPLACE ";" "<semicolon>" rest "${rest}")
string(REPLACE "[" "<bracket>" rest "${rest}")
string(REPLACE "]" "<end-bracket>" rest "${rest}")

set(definitions "")
set(statements "")
set(program "")
set(fence "```cpp\n")
string(FIND "${rest}" "${fence}" begin)
while(begin GREATER_EQUAL 0)
  string(LENGTH "${fence}" skip)
  math(EXPR begin "${begin} + ${skip}")
  string(SUBSTRING "${rest}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  math(EXPR end "${end} + 3")
  string(SUBSTRING "${rest}" ${end} -1 rest)
  if(block MATCHES "int main\\(")
    string(APPEND program "${block}")
  elseif(block MATCHES "^(struct|class|template) ")
    string(APPEND definitions "${block}\n")
  else()
    string(APPEND statements "  {\n${block}")  # a block sees the names of those before it, and may hide them
    string(APPEND closing "  }\n")
  endif()
  string(FIND "${rest}" "${fence}" begin)
endwhile()

if(program STREQUAL "")
  set(program "#undef NDEBUG
#include <cassert>
#include <strata/strata.h>
using namespace strata;
namespace {
${definitions}
}  // namespace
int main() {
${statements}${closing}}
")
endif()
string(REPLACE "<semicolon>" ";" program "${program}")
string(REPLACE "<bracket>" "[" program "${program}")
string(REPLACE "<end-bracket>" "]" program "${program}")
file(WRITE ${OUTPUT} "${program}")
