# SPDX-License-Identifier: Apache-2.0
include(GoogleTest)

# Test code runs once: optimising it takes longer than it saves, and half of the time to compile it goes into GoogleTest's
# headers, which are therefore compiled once, for the target strata_test_support.
function(strata_test_options target)
  strata_compile_options(${target})
  target_compile_options(${target} PRIVATE -O0)
endfunction()

# strata_test(<folder> [<library>]): the executable <folder>_tests of tests/<folder>/*_test.cc. It is linked with the library of
# the folder's name alone, so that tests keep to the arrows too, unless another is named. Suites with "Property" in their name
# get the label property, others the label unit.
function(strata_test folder)
  set(library strata::${folder})
  if(ARGC GREATER 1)
    set(library ${ARGV1})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*_test.cc)
  set(target ${folder}_tests)
  add_executable(${target} ${sources})
  strata_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM strata_test_support)
  target_link_libraries(${target} PRIVATE
    ${library} strata_test_support GTest::gmock GTest::gtest_main rapidcheck_gtest)
  gtest_discover_tests(${target} TEST_FILTER "-*Property*" TEST_PREFIX ${folder}. TEST_LIST ${target}_unit
    NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES LABELS unit)
  gtest_discover_tests(${target} TEST_FILTER "*Property*" TEST_PREFIX ${folder}. TEST_LIST ${target}_property
    NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES LABELS property)
endfunction()

# strata_golden_test(<area>): the runner golden_<area> and the test that runs it over the project's copy of the data.
function(strata_golden_test area)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden_runners/${area}*.cc)
  set(target golden_${area})
  add_executable(${target} ${sources})
  strata_test_options(${target})
  target_link_libraries(${target} PRIVATE strata::strata strata_test_support nlohmann_json::nlohmann_json)
  add_test(NAME golden.${area} COMMAND ${target} --dir ${CMAKE_CURRENT_SOURCE_DIR}/golden/${area})
  set_tests_properties(golden.${area} PROPERTIES LABELS golden)
endfunction()

# strata_compile_fail_test(<name> <source> <regex>): the source, which sees all of the core, must not compile, and the compiler's
# message must match the regular expression: a program that fails for another reason proves nothing.
function(strata_compile_fail_test name source regex)
  set(includes $<TARGET_PROPERTY:strata_strata,INTERFACE_INCLUDE_DIRECTORIES>)
  add_test(NAME compile_fail.${name} COMMAND ${CMAKE_COMMAND}
    -D "REGEX=${regex}"
    -P ${PROJECT_SOURCE_DIR}/cmake/expect_compile_error.cmake --
    ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only "-I$<JOIN:${includes},;-I>" ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    COMMAND_EXPAND_LISTS)
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail)
endfunction()
