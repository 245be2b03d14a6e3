# SPDX-License-Identifier: Apache-2.0
# cmake -D REGEX=<regex> -P expect_compile_error.cmake -- <compiler> <argument>...
# Succeeds if the compiler fails and its output matches.
set(command "")
foreach(i RANGE ${CMAKE_ARGC})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

set(ENV{LC_ALL} C)  # messages in one language, with one kind of quotes
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "This program must not compile, but it does.")
elseif(NOT output MATCHES "${REGEX}")
  message(FATAL_ERROR "The compiler's message does not match \"${REGEX}\":\n${output}")
endif()
