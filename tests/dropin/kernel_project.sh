#!/bin/bash
# A kernel project builds against the drop-in tree and runs: examples/ascendc_add, whose kernel has a stand-in. Then what happens without
# one, with a file that is plain C++, with each way to say where stand-ins are, and with what ascendc.cmake does not know.
# One line per failure, then a closing count.
# Usage: kernel_project.sh TREE EXAMPLES_DIR
set -u

tree=${1:?usage: kernel_project.sh TREE EXAMPLES_DIR}
examples=$(cd "${2:?usage: kernel_project.sh TREE EXAMPLES_DIR}" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
# shellcheck source=/dev/null
source "$tree/set_env.sh" || exit 2

# check WHAT COMMAND...: it succeeds.
check() {
  local what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what: $(tail -n 3 "$work/log")"
  fi
}
# told WHAT TEXT: the last command has said it. CMake breaks lines.
told() {
  if tr -s ' \n' '  ' <"$work/log" | grep -qF -- "$2"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1: '$2' is not in '$(tail -n 3 "$work/log")'"
  fi
}
fails() { ! "$@"; }
configure() { cmake -S "$1" -B "$1/build" -DCMAKE_INSTALL_PREFIX="$1/out" "${@:2}"; }

# --- The example, as it is ---------------------------------------------------------------------------------------------------

project="$work/a project"
cp -r "$examples/ascendc_add" "$project" || exit 2
check "configuring the example" configure "$project"
check "building the example" cmake --build "$project/build"
check "installing the example" cmake --install "$project/build"
check "the example" "$project/build/add"
check "the example with its binary" "$project/build/add" "$project/out/fatbin/add_fatbin/add_fatbin.o"
check "the example without that binary" fails "$project/build/add" "$project/out/fatbin/none.o"
told "it says so" "none.o cannot be read"

# --- Small projects ------------------------------------------------------------------------------------------------------------

# begin NAME TYPE FILE...: a project with one library of those files, found by the variable that set_env.sh sets.
begin() {
  project="$work/$1"
  mkdir -p "$project"
  cat >"$project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(small LANGUAGES C CXX)
include(\$ENV{ASCENDC_CMAKE_DIR}/ascendc.cmake)
ascendc_library(kernels ${*:2})
ascendc_include_directories(kernels PRIVATE include)
ascendc_compile_definitions(kernels PRIVATE -DHAVE_TILING WITH=7)
ascendc_compile_options(kernels PRIVATE -O9 --not-for-the-host -forward-options-to-host-compiler -DFOR_THE_HOST)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE kernels)
END
  echo 'int Answer(); int main() { return Answer() == 42 ? 0 : 1; }' >"$project/main.cpp"
}
device_code='extern "C" __global__ __aicore__ void twice(GM_ADDR x, uint32_t n) { }'

begin missing STATIC kernel.cpp
echo "$device_code" >"$project/kernel.cpp"
check "a missing stand-in lets the project configure" configure "$project"
check "and ends the build" fails cmake --build "$project/build"
told "with its place" "$project/kernel.standin.cpp"

# The same with each place of a stand-in, and each type.
answer='#include "aclrtlaunch_twice.h"
int Answer() { return ACLRT_LAUNCH_KERNEL(twice)(0, nullptr, nullptr, 1) == 0 ? 0 : 42; }  // there is no stand-in of that name'
place() { mkdir -p "$(dirname "$project/$1")" && echo "$answer" >"$project/$1"; }
for kind in STATIC SHARED; do
  for file in kernel.standin.cpp standin/kernel.cpp elsewhere/kernel.cpp; do
    begin "$kind-${file%%/*}" $kind kernel.cpp
    echo "$device_code" >"$project/kernel.cpp"
    place "$file"
    check "configuring with $file" configure "$project" -DROPEWAY_STANDIN_DIR="$project/elsewhere"
    check "building $kind with $file" cmake --build "$project/build"
    check "$kind with $file" "$project/build/program"
  done
done

begin plain STATIC plain.cpp
mkdir "$project/include"
echo '#define FORTY 40' >"$project/include/forty.h"
cat >"$project/plain.cpp" <<'END'
#include "forty.h"
#if !defined(HAVE_TILING) || WITH != 7 || !defined(FOR_THE_HOST)
#error "definitions do not arrive"
#endif
int Answer() { return FORTY + 2; }
END
check "configuring plain C++" configure "$project"
check "building plain C++" cmake --build "$project/build"
check "plain C++" "$project/build/program"

begin module MODULE plain.cpp
check "another type is refused" fails configure "$project"
told "and is told" "the type is STATIC or SHARED"

for folder in tools compiler x86_64-linux aarch64-linux .; do
  check "ascendc.cmake in $folder" test -f "$ASCEND_HOME_PATH/$folder/tikcpp/ascendc_kernel_cmake/ascendc.cmake"
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
