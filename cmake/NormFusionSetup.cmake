# Finds MLIR and LLVM, sets the flags that they were built with, and defines
# norm_fusion_library(), which every library of the project is made with.

find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "found MLIR ${LLVM_VERSION}, norm-fusion needs MLIR 22 "
                      "(Debian: libmlir-22-dev); set MLIR_DIR")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST} -DNORM_FUSION_VERSION="${PROJECT_VERSION}")
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these two it passes over files that use precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
               ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(LLD_PROGRAM NAMES ld.lld-22 ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=${LLD_PROGRAM})
endif()

# Debian's LLVM has RTTI and no exceptions.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> -Wall -Wextra
                    -Wno-unused-parameter -Wno-comment -Wno-dangling-gsl -Wno-deprecated-declarations)
if(NORM_FUSION_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(NORM_FUSION_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address -O1)
  add_link_options(-fsanitize=address)
endif()

# What tools link: the shared MLIR and LLVM, or all of their archives.
set(NORM_FUSION_MLIR_LIBRARIES MLIR LLVM)
if(NORM_FUSION_STATIC)
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "libMLIRCAPI|Test|libMLIRMlirOptMain")
  set(NORM_FUSION_MLIR_LIBRARIES
    -Wl,--start-group ${archives} -Wl,--end-group z zstd dl pthread m)
endif()

# norm_fusion_precompile_headers(TARGET)
# PrecompiledHeaders.h comes first in every file of TARGET. The first target
# compiles it, and the others use that: so all need the same flags.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # ccache compares contents.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
function(norm_fusion_precompile_headers target)
  get_property(first GLOBAL PROPERTY NORM_FUSION_PRECOMPILED_BY)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE
      ${PROJECT_SOURCE_DIR}/cmake/PrecompiledHeaders.h)
    set_property(GLOBAL PROPERTY NORM_FUSION_PRECOMPILED_BY ${target})
  endif()
  # CMake compiles programs with -fPIE, which isn't what the libraries have.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# norm_fusion_library(NAME SOURCES... [DEPENDS ...] [LINK ...])
# One object library an area; tools link them all, plugins too.
function(norm_fusion_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} norm-fusion-headers ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  norm_fusion_precompile_headers(${name})
  set_property(GLOBAL APPEND PROPERTY NORM_FUSION_LIBRARIES ${name})
endfunction()
