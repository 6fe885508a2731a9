#!/usr/bin/env bash
# host_access.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: in a program built with ThreadSanitizer, host code that touches a buffer
# under a pending copy is reported with its rule, and right code is not; with clang, too, where it is there. Exits 77 where no compiler has
# ThreadSanitizer.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
tried=0
failed=0
# expect MISTAKE RULE: the one rule that is told, or none. Some versions of the detector want addresses where they have always been.
expect() {
  setarch "$(uname -m)" -R "$ropeway" check -- "$work/program" "$1" >"$work/out" 2>&1
  local status=$? told
  told=$(grep -o '^HOST  RW-HOST-00[12]' "$work/out" | cut -c7- | sort -u | tr '\n' ' ')
  [ "${told% }" = "$2" ] && { [ -z "$2" ] || [ "$status" -ne 0 ]; } && return
  failed=$((failed + 1))
  echo "FAILED mistake $1: told '${told% }', wanted '$2', status $status"
  cat "$work/out"
}
for one in "$compiler" clang++; do
  "$one" -std=c++17 -g -O1 -fsanitize=thread -I "$include" "$sources/host_access.cpp" -o "$work/program" -L "$libraries" -lascendcl \
    2>"$work/out" || { echo "no ThreadSanitizer: $one: $(head -1 "$work/out")"; continue; }
  tried=$((tried + 1))
  expect 0 ""
  grep -q ThreadSanitizer "$work/out" && { echo "FAILED: a report of a right program"; cat "$work/out"; failed=$((failed + 1)); }
  expect 1 RW-HOST-002
  expect 2 RW-HOST-001
  expect 3 RW-HOST-001
  expect 4 RW-HOST-002
done
[ "$tried" -ne 0 ] || { echo "SKIPPED: no ThreadSanitizer" >&2; exit 77; }
[ "$failed" -eq 0 ]
