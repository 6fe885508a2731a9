#!/usr/bin/env bash
# listeners.sh ROPEWAY ONE_WRONG_TEST TREE PYTHON SOURCE_FOLDER: of several tests just the one in which a finding arose fails, with Google Test and
# with pytest; and ropeway_add_test makes the tests that it says.
set -u
ropeway=${1:?} program=${2:?} tree=${3:?} python=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1"; cat "$work/out"; exit 1; }

GTEST_BRIEF=0 "$ropeway" check -- "$program" >"$work/out" 2>&1 && fail "the wrong test passed"
[ "$(grep -c '^\[       OK \]' "$work/out")" -eq 2 ] || fail "the right tests"
grep -q '^\[  FAILED  \] TwoStreams.WaitsForNobody' "$work/out" || fail "another test failed"
GTEST_BRIEF=1 "$program" >"$work/out" 2>&1 || fail "without the layer"

test=("$python" -m pytest -q -p no:cacheprovider -p ropeway_check "$sources/one_wrong.py" --ropeway-check)
"$tree/bin/ropeway" check -- "${test[@]}" >"$work/out" 2>&1 && fail "pytest: the wrong test passed"
grep -q '^2 failed, 1 passed' "$work/out" || fail "pytest: the right tests"
grep -q '^ropeway check found 2 errors' "$work/out" && grep -q 'FAILED .*::test_waits_for_nobody' "$work/out" || fail "pytest: another test failed"
"$tree/bin/ropeway" exec -- "${test[@]}" >"$work/out" 2>&1 && fail "pytest: without the layer"
grep -q 'the layer is not loaded' "$work/out" || fail "pytest: says nothing of the layer"

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<LINES
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES NONE)
enable_testing()
include("$tree/share/cmake/Ropeway/RopewayTest.cmake")
ropeway_add_test(copy SCHEDULES fast latest random:1-3 CHECK COMMAND "$program" --gtest_filter=*Host)
ropeway_add_test(wrong CHECK COMMAND "$program" --gtest_filter=*Nobody)
LINES
cmake -S "$work/project" -B "$work/build" >"$work/out" 2>&1 || fail "cmake"
(cd "$work/build" && ctest) >"$work/out" 2>&1 && fail "ctest: the wrong test passed"
grep -q '88% tests passed, 1 tests failed out of 8' "$work/out" && grep -q 'wrong.check (Failed)' "$work/out" || fail "ctest"
echo "all good"
