#!/bin/bash
# Programs of other projects that find the tree by CMake, by pkg-config, or that have its sources in a folder of theirs. One line per
# failure, then a closing count.
# Usage: find_packages.sh TREE SOURCES VERSION
set -u
tree=${1:?usage: find_packages.sh TREE SOURCES VERSION}
sources=${2:?usage: find_packages.sh TREE SOURCES VERSION}
version=${3:?usage: find_packages.sh TREE SOURCES VERSION}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH ASCEND_HOME_PATH

# verdict WHAT STATUS: with the end of the log where it is bad.
verdict() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1: $(tail -n 5 "$work/log")"
  fi
}
# project NAME: a folder with hello_copy.cpp and the CMakeLists.txt that stands on standard input.
project() {
  mkdir -p "$work/$1"
  cp "$sources/examples/hello_copy.cpp" "$sources/examples/hccl_memcpy.cpp" "$work/$1"
  cat >"$work/$1/CMakeLists.txt"
}
# configure NAME FLAG...
configure() {
  local name=$1
  shift
  cmake -G Ninja -S "$work/$name" -B "$work/$name/build" "$@" >"$work/log" 2>&1
}

# The tree where it was made, and moved to a place with a space in its name.
cp -a "$tree" "$work/a tree"
project found <<END
cmake_minimum_required(VERSION 3.16)
project(found CXX)
find_package(Ropeway $version REQUIRED)
add_executable(hello hello_copy.cpp)
target_link_libraries(hello Ropeway::ascendcl)
add_executable(ranks hccl_memcpy.cpp)
target_link_libraries(ranks PRIVATE Ropeway::hccl)
add_library(engines MODULE "$sources/tests/dropin/adxl_weak.cpp")
target_link_libraries(engines PRIVATE Ropeway::adxl Ropeway::hixl)
enable_testing()
ropeway_add_test(hello SCHEDULES fast latest COMMAND hello)
END
for prefix in "$tree" "$work/a tree"; do
  rm -rf "$work/found/build"
  configure found "-DCMAKE_PREFIX_PATH=$prefix" && cmake --build "$work/found/build" >"$work/log" 2>&1 &&
    "$work/found/build/hello" >"$work/log" 2>&1 && "$work/found/build/ranks" >"$work/log" 2>&1 &&
    ctest --test-dir "$work/found/build" >"$work/log" 2>&1
  verdict "find_package in $prefix" $?
done

# What is not there is said, and what is too new.
project asks_too_much <<'END'
cmake_minimum_required(VERSION 3.16)
project(asks CXX)
find_package(Ropeway REQUIRED COMPONENTS hccl nothing)
END
configure asks_too_much "-DCMAKE_PREFIX_PATH=$tree"
grep -q "no component 'nothing'" "$work/log"
verdict "a component that is not there" $?
project too_new <<'END'
cmake_minimum_required(VERSION 3.16)
project(asks CXX)
find_package(Ropeway 99.0 REQUIRED)
END
! configure too_new "-DCMAKE_PREFIX_PATH=$tree"
verdict "a version that is not there" $?

# pkg-config, which writes a backslash before the space.
for prefix in "$tree" "$work/a tree"; do
  export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
  for package in ascendcl:hello_copy hccl:hccl_memcpy; do
    pkg-config --exact-version="$version" "${package%%:*}" 2>"$work/log" &&
      eval "${CXX:-g++} -std=c++17 '$sources/examples/${package#*:}.cpp' -o '$work/by_pc' $(pkg-config --cflags --libs "${package%%:*}")" 2>"$work/log" &&
      "$work/by_pc" >"$work/log" 2>&1
    verdict "pkg-config ${package%%:*} in $prefix" $?
  done
done
unset PKG_CONFIG_PATH

# set_env.sh is enough for both, and for find_library.
project by_environment <<'END'
cmake_minimum_required(VERSION 3.16)
project(by_environment CXX)
find_package(Ropeway REQUIRED)
find_library(found ascendcl REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HCCL REQUIRED hccl)
END
(source "$tree/set_env.sh" && configure by_environment)
verdict "the environment of set_env.sh" $?

# Sources in a folder of another project, which has targets of its own: no flags, no tests, no target in its way. Configured only.
project inside <<END
cmake_minimum_required(VERSION 3.22)
project(inside CXX)
add_subdirectory("$sources" ropeway EXCLUDE_FROM_ALL)
foreach(name graph metadef cann unit_tests conformance_tests demo hello_copy)
  add_custom_target(\${name})
endforeach()
add_executable(hello hello_copy.cpp)
target_link_libraries(hello Ropeway::ascendcl)
foreach(name CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS CMAKE_CXX_STANDARD BUILD_TESTING)
  if(\${name})
    message(FATAL_ERROR "\${name} is \${\${name}} now")
  endif()
endforeach()
get_directory_property(tests DIRECTORY "$sources" TESTS)
if(tests)
  message(FATAL_ERROR "tests: \${tests}")
endif()
END
configure inside
verdict "the sources as a folder of another project" $?

# What was installed goes, and nothing else.
mkdir -p "$work/other/prefix/lib" "$work/other/prefix/share/mine"
touch "$work/other/prefix/lib/libascendcl.so" "$work/other/prefix/share/theirs" "$work/other/prefix/share/mine/kept"
printf '%s\n' "$work/other/prefix" "$work/other/prefix/lib/libascendcl.so" "$work/other/prefix/share/theirs" >"$work/list"
bash "$sources/tools/uninstall.sh" "$work/list" 2>"$work/log" &&
  [ "$(cd "$work/other" && find . -mindepth 1 | sort | tr '\n' ' ')" = "./prefix ./prefix/share ./prefix/share/mine ./prefix/share/mine/kept " ]
verdict "uninstall.sh" $?
printf '%s\n' "$work/other/prefix" "$work/other/prefix/share/mine/kept" >"$work/list"
bash "$sources/tools/uninstall.sh" "$work/list" 2>"$work/log" && [ -d "$work/other" ] && [ ! -e "$work/other/prefix" ]
verdict "uninstall.sh of all that there is" $?

echo "find_packages: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
