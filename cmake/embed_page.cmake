# SPDX-License-Identifier: Apache-2.0
# Puts style and scripts into page.html and writes the whole as a C++ text: cmake -D FOLDER=... -D OUTPUT=... -P embed_page.cmake
#
# `@file@` in page.html stands for the file. Licence lines are left out.
function(read_page_file file result)
  file(READ ${FOLDER}/${file} text)
  string(FIND "${text}" "\n" end)
  math(EXPR begin "${end} + 1")
  string(SUBSTRING "${text}" ${begin} -1 text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

read_page_file(page.html page)
foreach(name IN ITEMS style.css filter.js regex.js view.js)
  read_page_file(${name} text)
  string(REPLACE "@${name}@" "${text}" page "${page}")
endforeach()
file(WRITE ${OUTPUT} "// Made of nn/page by cmake/embed_page.cmake.
#include \"strata/nn/internal/page_text.h\"

namespace strata::nn::internal {

extern const std::string_view page_text = R\"page(${page})page\";

}  // namespace strata::nn::internal
")
