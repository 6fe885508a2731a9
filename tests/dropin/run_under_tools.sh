#!/usr/bin/env bash
# Runs programs of users on the ordinary library under what users run programs under: AddressSanitizer and ThreadSanitizer of every
# compiler that is here, valgrind, a limit on the address space. One line per failure, then a closing count; tools that are not
# installed are named.
# Usage: run_under_tools.sh TREE EXAMPLES_DIR
set -u

tree=${1:?usage: run_under_tools.sh TREE EXAMPLES_DIR}
examples=${2:?usage: run_under_tools.sh TREE EXAMPLES_DIR}
here=$(cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

# build COMPILER SOURCE OUTPUT FLAG...
build() {
  local compiler=$1 source=$2 output=$3
  shift 3
  "$compiler" -std=c++17 -O1 -g "$@" -I"$tree/include" "$source" -o "$output" -L"$tree/lib64" -lascendcl -pthread \
    -Wl,-rpath,"$tree/lib64" >"$work/log" 2>&1
}
# judge NAME GOOD(0 or 1): counts; the log tells what was wrong.
judge() {
  if [ "$2" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$work/log" | head -n 40
  fi
}
skip() {
  skipped=$((skipped + 1))
  echo "skipped: $1"
}
# good NAME COMMAND...: the command must end with 0.
good() {
  local name=$1
  shift
  "$@" >"$work/log" 2>&1
  judge "$name" $?
}

sanitized() {
  local name=$1
  if build "$name" "$here/hand_over.cpp" "$work/address" -fsanitize=address,undefined; then
    good "$name, AddressSanitizer" "$work/address"
  else
    skip "$name has no AddressSanitizer"
  fi
  if build "$name" "$here/hand_over.cpp" "$work/thread" -fsanitize=thread; then
    for schedule in fast latest random:7; do
      good "$name, ThreadSanitizer, schedule $schedule" env ROPEWAY_SCHEDULE="$schedule" "$work/thread"
    done
    # That it finds races at all, through callbacks of ours.
    "$work/thread" race >"$work/log" 2>&1
    grep -q 'data race' "$work/log"
    judge "$name, ThreadSanitizer, a race of the program" $?
  else
    skip "$name has no ThreadSanitizer"
  fi
}

seen=:
for compiler in g++ clang++ clang++-{14..21}; do
  path=$(command -v "$compiler") && path=$(readlink -f "$path") || continue
  [[ $seen == *":$path:"* ]] || sanitized "$compiler"
  seen+="$path:"
done

build "${CXX:-g++}" "$examples/hello_copy.cpp" "$work/hello" || judge "building hello_copy" 1
if command -v valgrind >/dev/null; then
  good "valgrind" valgrind -q --error-exitcode=9 "$work/hello"
else
  skip "valgrind is not installed"
fi
good "2 GiB of addresses" bash -c 'ulimit -v 2097152; exec "$0"' "$work/hello"
good "2 GiB of addresses, one small device" \
  env ROPEWAY_DEVICES=1 ROPEWAY_DEVICE_MEMORY=64MiB bash -c 'ulimit -v 2097152; exec "$0"' "$work/hello"
good "what doctor says of a limit" bash -c 'ulimit -v 2097152; "$0" doctor | grep -E "^note +addresses.*ulimit -v"' "$tree/bin/ropeway"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
