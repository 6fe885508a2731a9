#!/usr/bin/env bash
# address_sanitizer.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: in a program built with AddressSanitizer, copies of memory that is freed or
# out of bounds are told with their rule, and right ones are not; the same with clang where it is installed. Exits 77 where no compiler has it.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
runs=0

# expect COMPILER MISTAKE RULE FLAG...: the one rule that is told, or none.
expect() {
  local with=$1 mistake=$2 rule=$3 told=""
  shift 3
  rm -f "$work/found"
  ASAN_OPTIONS=detect_leaks=0 "$ropeway" check --json --output "$work/found" "$@" -- "$work/program" "$mistake" >"$work/out" 2>&1
  local status=$? right=1
  [ "$mistake" = 0 ] && right=0
  [ -e "$work/found" ] && told=$(grep -o '"rule":"RW-[^T][^"]*"' "$work/found" | cut -d'"' -f4 | sort -u | tr '\n' ' ')
  runs=$((runs + 1))
  [ "${told% }" = "$rule" ] && [ "$status" -eq "$right" ] && return
  failed=$((failed + 1))
  echo "FAILED $with mistake $mistake $*: status $status, told '${told% }', wanted '$rule'"
  tail -30 "$work/out"
}

for with in "$compiler" clang++; do
  if ! "$with" -std=c++17 -g -O1 -fsanitize=address -I "$include" "$sources/address_sanitizer.cpp" -o "$work/program" -L "$libraries" -lascendcl 2>"$work/out"; then
    echo "SKIPPED $with: $(head -1 "$work/out")" >&2
    continue
  fi
  expect "$with" 0 ""
  expect "$with" 0 "" --host-access=on
  for mistake in 1 2 3 4 5; do expect "$with" $mistake RW-HOST-004; done
  expect "$with" 1 RW-HOST-004 --host-access=on
  expect "$with" 6 ""
  grep -q 'use-after-poison' "$work/out" || { failed=$((failed + 1)); echo "FAILED $with: host code in freed pinned memory"; cat "$work/out"; }
done
[ "$runs" -gt 0 ] || exit 77
echo "$runs runs, $failed failed"
[ "$failed" -eq 0 ]
