# SPDX-License-Identifier: Apache-2.0
# What find_package(strata) and pkg-config need beside the libraries and headers, which strata_library installs.
include(CMakePackageConfigHelpers)

set(STRATA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/strata)
install(EXPORT strata-targets NAMESPACE strata:: DESTINATION ${STRATA_CMAKE_DIR})
configure_package_config_file(cmake/strata-config.cmake.in cmake/strata-config.cmake
  INSTALL_DESTINATION ${STRATA_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/strata-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/strata-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/strata-config-version.cmake
  DESTINATION ${STRATA_CMAKE_DIR})

# A linker reads static libraries once, from left to right: those that use others come first.
get_property(folders GLOBAL PROPERTY STRATA_LIBRARIES)
list(REVERSE folders)
set(STRATA_PC_LIBS "")
set(STRATA_PC_CFLAGS "")
set(STRATA_PC_REQUIRES "")
foreach(folder IN LISTS folders)
  get_target_property(type strata_${folder} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(APPEND STRATA_PC_LIBS " -lstrata_${folder}")
  endif()
endforeach()
if(TARGET strata_checkpoint)
  set(STRATA_PC_CFLAGS " -DSTRATA_HAS_CHECKPOINT")
  set(STRATA_PC_REQUIRES " libzip")
endif()
# Relative, so that the installed tree can be moved and `cmake --install --prefix` works.
file(RELATIVE_PATH STRATA_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/strata.pc.in cmake/strata.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/strata.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
