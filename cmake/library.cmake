# libascendcl.so. The sources compile once, into objects that the shared library and the unit tests both link: unit tests
# reach what the version script hides.

# Relative: the folders above the tree have names, too.
file(GLOB_RECURSE ropeway_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER ropeway_sources EXCLUDE REGEX "^src/engine/cuda/")  # a plugin of its own: cmake/cuda.cmake
list(FILTER ropeway_sources EXCLUDE REGEX "^src/(hccl|hixl)/")  # libraries on top: cmake/hccl.cmake, cmake/hixl.cmake
list(FILTER ropeway_sources EXCLUDE REGEX "^src/securec/")  # a library of its own, below
set(base_sources ${ropeway_sources})
list(FILTER base_sources INCLUDE REGEX "^src/base/")
list(FILTER ropeway_sources EXCLUDE REGEX "^src/base/")
list(FILTER base_sources EXCLUDE REGEX "/symbols\\.cpp$")

# Each kernel file is written for one instruction set; the dispatcher picks at run time among those that were built.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(FILTER ropeway_sources EXCLUDE REGEX "^src/engine/cpu/kernels/[^/]*_neon\\.cpp$")
  set(avx2_sources ${ropeway_sources})
  list(FILTER avx2_sources INCLUDE REGEX "^src/engine/cpu/kernels/[^/]*_avx2\\.cpp$")
  set_source_files_properties(${avx2_sources} PROPERTIES COMPILE_OPTIONS "-mavx2")
  set(avx512_sources ${ropeway_sources})
  list(FILTER avx512_sources INCLUDE REGEX "^src/engine/cpu/kernels/[^/]*_avx512\\.cpp$")
  set_source_files_properties(${avx512_sources} PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl")
else()
  list(FILTER ropeway_sources EXCLUDE REGEX "^src/engine/cpu/kernels/[^/]*_avx(2|512)\\.cpp$")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    list(FILTER ropeway_sources EXCLUDE REGEX "^src/engine/cpu/kernels/[^/]*_neon\\.cpp$")
  endif()
endif()

if(NOT ropeway_sources)
  message(STATUS "no sources under src/: nothing to build")
  return()
endif()

find_package(nlohmann_json 3.2 REQUIRED)
find_package(Threads REQUIRED)

# Names of source files and lines, by libdw, which is opened at run time when somebody asks for one; needed to build are its headers. Apart from
# the rest of src/base/, because the command and the checking layer, which link nothing else of ours, know lines, too.
add_library(ropeway_symbols OBJECT ${PROJECT_SOURCE_DIR}/src/base/symbols.cpp)
target_include_directories(ropeway_symbols PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_target_properties(ropeway_symbols PROPERTIES POSITION_INDEPENDENT_CODE ON)
find_path(ROPEWAY_LIBDW_INCLUDE elfutils/libdwfl.h)
if(ROPEWAY_LIBDW_INCLUDE)
  target_compile_definitions(ropeway_symbols PRIVATE ROPEWAY_LIBDW)
  target_include_directories(ropeway_symbols SYSTEM PRIVATE ${ROPEWAY_LIBDW_INCLUDE})
  ropeway_part("file and line of calls" yes)
else()
  ropeway_part("file and line of calls" "no: no elfutils/libdwfl.h (Debian: libdw-dev), so functions are named")
endif()

# What both libraries and the CUDA plugin stand on. Each takes the files that it needs, so that nothing of one is waiting in another's
# process: no unity build.
add_library(ropeway_base STATIC ${base_sources} $<TARGET_OBJECTS:ropeway_symbols>)
target_include_directories(ropeway_base PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(ropeway_base PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
target_precompile_headers(ropeway_base PRIVATE <algorithm> <atomic> <mutex> <string> <vector>)

# ropeway_library_part(NAME SOURCES HEADER...) compiles sources into objects. Most of a file's compile time is parsing what all of
# its room includes, so a dozen files are compiled as one, and names in anonymous namespaces differ within a library. The preset debug
# compiles each file by itself, which shows an include that is missing. The kernels have flags of their own and include nearly nothing.
function(ropeway_library_part name sources)
  add_library(${name} OBJECT ${${sources}})
  target_link_libraries(${name} PUBLIC ropeway_base)
  target_precompile_headers(${name} PRIVATE ${ARGN})
  if(NOT ROPEWAY_FILE_BY_FILE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
endfunction()

set(kernel_sources ${ropeway_sources})
list(FILTER kernel_sources INCLUDE REGEX "^src/engine/cpu/kernels/")
set_source_files_properties(${kernel_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

ropeway_json_sources(${PROJECT_SOURCE_DIR}/src/runtime/init_config.cpp)

set(api_sources ${ropeway_sources})
list(FILTER api_sources INCLUDE REGEX "^src/api/")
set(core_sources ${ropeway_sources})
list(FILTER core_sources EXCLUDE REGEX "^src/api/")
ropeway_library_part(ropeway_core core_sources <algorithm> <atomic> <condition_variable> <deque> <map> <memory> <mutex>
                     <optional> <set> <string> <thread> <vector>)
ropeway_library_part(ropeway_api api_sources ${PROJECT_SOURCE_DIR}/src/api/entry.h)
ropeway_own_results(ropeway_api)
set(ropeway_objects ropeway_core ropeway_api)
foreach(part IN LISTS ropeway_objects)
  target_link_libraries(${part} PUBLIC nlohmann_json::nlohmann_json)
endforeach()

# nodelete: lanes and thread-local state outlive a dlclose, so the code must too.
add_library(ascendcl SHARED)
target_link_libraries(ascendcl PRIVATE ${ropeway_objects})
target_include_directories(ascendcl INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
set(ropeway_exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_options(ascendcl PRIVATE -Wl,-z,nodelete -Wl,--version-script=${ropeway_exports})
if(NOT ROPEWAY_SANITIZE)
  target_link_options(ascendcl PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(ascendcl PROPERTIES LINK_DEPENDS ${ropeway_exports} LINKER_LANGUAGE CXX)

# libc_sec.so, which stands on the C library alone.
file(GLOB securec_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/securec/*.cpp)
add_library(ropeway_c_sec SHARED ${securec_sources})
set_target_properties(ropeway_c_sec PROPERTIES OUTPUT_NAME c_sec)
target_include_directories(ropeway_c_sec PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
