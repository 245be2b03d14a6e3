# SPDX-License-Identifier: Apache-2.0
# cmake -D FILE=<program> -D STRIP=<strip> -D LIMIT=<bytes> -P expect_size.cmake
# Succeeds if the stripped program is smaller than the limit.
execute_process(COMMAND ${STRIP} -o ${FILE}.stripped ${FILE} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${FILE}.stripped size)
file(REMOVE ${FILE}.stripped)
message(STATUS "${size} bytes of ${LIMIT}")
if(NOT size LESS LIMIT)
  message(FATAL_ERROR "The stripped program is too large.")
endif()
