# How every file of the project is compiled: language level, warnings, sanitizers, ccache.

option(ROPEWAY_FILE_BY_FILE "Compile each file of the libraries by itself, and not many as one" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# base_dir and hash_dir let a second clone of the same commit reuse the results of the first; the sloppiness is what ccache asks
# for when a precompiled header is in play.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(ropeway_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${ropeway_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ropeway_launcher})
endif()

# ropeway_own_results(TARGET) is for targets that precompile headers of this tree: the compiler knows those again by their place and time, so
# a precompiled one of another clone would define everything twice.
string(SHA1 ropeway_clone ${PROJECT_SOURCE_DIR})
function(ropeway_own_results target)
  target_compile_definitions(${target} PRIVATE ROPEWAY_CLONE_${ropeway_clone})
endfunction()

# The developers' presets set CMAKE_COMPILE_WARNING_AS_ERROR. A compiler that we have not seen may warn; that stops nobody's build.
add_compile_options(-Wall -Wextra -Wshadow -Wundef)
# clang checks what base/mutex.h lets the sources say about locks. Its precompiled headers carry no time, for ccache's sake.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety -Wextra-semi -Wimplicit-fallthrough "SHELL:-Xclang -fno-pch-timestamp")
endif()

# ROPEWAY_SANITIZE comes from the asan and tsan presets. Little or no optimisation and line tables only: three builds of the whole suite
# have to fit into a coffee break on two cores. Under ASan the compiler takes longer to optimise than the tests gain; what TSan checks on
# every access is worth it.
set(ROPEWAY_SANITIZE "" CACHE STRING "Sanitizer of this build: empty, address (with undefined) or thread")
set_property(CACHE ROPEWAY_SANITIZE PROPERTY STRINGS "" address thread)
if(ROPEWAY_SANITIZE)
  if(ROPEWAY_SANITIZE STREQUAL "address")
    set(ropeway_sanitize_flags -fsanitize=address,undefined -fno-sanitize=enum -fno-sanitize-recover=all)
    set(ropeway_sanitize_level -O0)
    add_compile_definitions(ROPEWAY_ASAN=1)
  elseif(ROPEWAY_SANITIZE STREQUAL "thread")
    set(ropeway_sanitize_flags -fsanitize=thread)
    set(ropeway_sanitize_level -O1)
    add_compile_definitions(ROPEWAY_TSAN=1)
  else()
    message(FATAL_ERROR "ROPEWAY_SANITIZE=${ROPEWAY_SANITIZE}: say address, thread or nothing")
  endif()
  # The instrumentation confuses GCC's flow analysis into reporting initialised variables.
  add_compile_options(${ropeway_sanitize_flags} ${ropeway_sanitize_level} -g1 -fno-omit-frame-pointer
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(${ropeway_sanitize_flags})
  # GCC's runtime is a library of its own, in front of everything that programs define themselves; so shall clang's be. For threads that
  # one does not start with clang 14; it is in the programs then, behind what they define.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND ROPEWAY_SANITIZE STREQUAL "address")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir OUTPUT_VARIABLE clang_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    add_link_options(-shared-libsan -Wl,-rpath,${clang_folder}/lib/linux)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-Wl,--allow-multiple-definition)
  endif()
elseif(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# ropeway_part(NAME STATE): a part that a machine may lack what it needs for. CMakeLists.txt prints them all, at the end, where somebody reads it.
function(ropeway_part name state)
  string(LENGTH "${name}" length)
  math(EXPR rest "28 - ${length}")
  string(REPEAT " " ${rest} blanks)
  set_property(GLOBAL APPEND PROPERTY ROPEWAY_PARTS "${name}${blanks}${state}")
endfunction()

# ropeway_json_sources(FILE...) names the files that read or print JSON. That happens once in a process, and the templates of the parser
# take as long to optimise as a dozen other files.
function(ropeway_json_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS -O0)
endfunction()
