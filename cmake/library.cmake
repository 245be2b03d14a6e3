# SPDX-License-Identifier: Apache-2.0

# The compiler settings of everything that is built here. They belong to targets, so that a project that embeds this one keeps
# its own.
function(strata_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ${STRATA_WERROR} CXX_EXTENSIONS OFF)
endfunction()

# strata_library(<folder> [HEADERS <file>...] [SOURCES <file>...] [DEPENDS <folder>...])
#
# Makes the library strata::<folder> of the folder it is called in; without SOURCES it is an interface library. HEADERS are
# public: installed, and compiled alone by the target all_verify_interface_header_sets. Headers under internal/ are not listed:
# strata_add_internal_headers finds those that users need.
#
# `#include "strata/<folder>/x.h"` resolves through a directory link in the build tree, one include directory per folder. A
# target therefore sees only the headers of libraries it links, and DEPENDS takes only folders that were added before: an
# include or a dependency against the arrows does not build.
function(strata_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "HEADERS;SOURCES;DEPENDS")
  set(target strata_${folder})
  set(include_dir ${PROJECT_BINARY_DIR}/include/${folder})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(${target} ${ARG_SOURCES})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(strata::${folder} ALIAS ${target})

  file(MAKE_DIRECTORY ${include_dir}/strata)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_dir}/strata/${folder} SYMBOLIC)
  strata_require_all_headers_listed(${folder} ${ARG_HEADERS})
  list(TRANSFORM ARG_HEADERS PREPEND ${folder}/ OUTPUT_VARIABLE public_headers)
  set_property(GLOBAL APPEND PROPERTY STRATA_PUBLIC_HEADERS ${public_headers})
  list(TRANSFORM ARG_HEADERS PREPEND ${include_dir}/strata/${folder}/)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${include_dir} FILES ${ARG_HEADERS})

  foreach(dependency IN LISTS ARG_DEPENDS)
    if(NOT TARGET strata_${dependency})
      message(FATAL_ERROR "${folder} cannot depend on ${dependency}: ${dependency} does not stand before it in the list of "
        "folders in the root CMakeLists.txt.")
    endif()
    target_link_libraries(${target} ${scope} strata_${dependency})
  endforeach()

  target_compile_features(${target} ${scope} cxx_std_20)
  # Debug information, __FILE__ and coverage name the source file, not the link: coverage tools drop headers otherwise.
  target_compile_options(${target} ${scope}
    $<BUILD_INTERFACE:-ffile-prefix-map=${include_dir}/strata/=${PROJECT_SOURCE_DIR}/>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder} POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY STRATA_LIBRARIES ${folder})
  if(ARG_SOURCES)
    strata_compile_options(${target})
    # A project that embeds this one and chooses no build type would get kernels without optimisation, twenty times slower.
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
      target_compile_options(${target} PRIVATE -O2)
    endif()
  endif()
  if(STRATA_INSTALL)
    install(TARGETS ${target} EXPORT strata-targets FILE_SET HEADERS)
  endif()
endfunction()

# A public header that is in no list would be missing from the installed library only, where no test of ours looks.
function(strata_require_all_headers_listed folder)
  file(GLOB_RECURSE found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.h)
  list(FILTER found EXCLUDE REGEX "^internal/")
  list(REMOVE_ITEM found ${ARGN})
  if(found)
    list(JOIN found ", " missing)
    message(FATAL_ERROR "${folder}: public headers that are not in HEADERS: ${missing}. "
      "Add them in ${folder}/CMakeLists.txt, or move them to ${folder}/internal/.")
  endif()
endfunction()

# Adds the internal headers that public headers include, directly or not, to the headers of their libraries: they must be
# installed too. To be called when all libraries are made.
function(strata_add_internal_headers)
  get_property(unread GLOBAL PROPERTY STRATA_PUBLIC_HEADERS)
  set(internal)
  while(unread)
    list(POP_FRONT unread header)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"strata/[a-z]+/internal/.*\"")
    list(TRANSFORM includes REPLACE "^#include \"strata/([^\"]*)\".*" "\\1")
    list(REMOVE_ITEM includes ${internal})
    list(APPEND internal ${includes})
    list(APPEND unread ${includes})
  endwhile()
  list(REMOVE_DUPLICATES internal)
  foreach(header IN LISTS internal)
    string(REGEX REPLACE "/.*" "" folder ${header})
    target_sources(strata_${folder} PUBLIC
      FILE_SET HEADERS FILES ${PROJECT_BINARY_DIR}/include/${folder}/strata/${header})
  endforeach()
endfunction()
