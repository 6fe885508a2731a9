#!/bin/bash
# There is one harness, `ropeway bench`: make bench runs it, its rows come out in the table and in the JSON, and what stands in bench/ beside it,
# which no build makes, compiles. No figure is judged.
# Usage: bench.sh ROPEWAY SOURCE_DIR CXX
set -u

ropeway=${1:?usage: bench.sh ROPEWAY SOURCE_DIR CXX}
sources=${2:?usage: bench.sh ROPEWAY SOURCE_DIR CXX}
cxx=${3:?usage: bench.sh ROPEWAY SOURCE_DIR CXX}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
passed=0

expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what"
  fi
}

if command -v make >/dev/null 2>&1; then
  make -n -C "$sources" bench >"$work/make" 2>&1
  expect "make bench runs ropeway bench" grep -q '^build/release/ropeway bench' "$work/make"
else
  echo "there is no make here: what make bench runs is not looked at"
fi

for program in "$sources"/bench/*.c "$sources"/bench/*.cpp; do
  language=(-x c++ -std=c++20)
  [ "${program##*.}" = cpp ] || language=(-x c -std=gnu11)
  expect "$program compiles" "$cxx" "${language[@]}" -fsyntax-only -Wall -I"$sources" -I"$sources/include" "$program"
done
for script in "$sources"/bench/*.sh; do expect "$script is a script" bash -n "$script"; done

export ROPEWAY_ENGINE=cpu
run_row() {
  "$ropeway" bench --quick --filter "$1" --json "$work/$1" >"$work/table" 2>"$work/errors" || { cat "$work/errors" && return 1; }
}
for row in to_host_16m on_device_16m to_host_batch_16k; do
  expect "$row runs" run_row "$row"
  expect "$row is in the JSON" grep -q "\"$row\"" "$work/$row"
done
expect "the table has the last row" grep -q 'to the host' "$work/table"
"$ropeway" bench --filter "no such row" >/dev/null 2>&1
expect "a filter that no row has is an error" [ $? = 2 ]

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
