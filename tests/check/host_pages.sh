#!/usr/bin/env bash
# host_pages.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: `ropeway check --host-access=on` finds host code that touches pinned memory
# under a pending copy, in any binary and on any AscendCL, with the line that does it, and leaves right programs as they are.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
"$compiler" -std=c++17 -g -O1 -pthread -I "$include" "$sources/host_pages.cpp" -o "$work/program" -L "$libraries" -lascendcl -Wl,-z,lazy || exit 2
mkdir "$work/mini"
"$compiler" -x c -shared -fPIC -fvisibility=hidden -o "$work/mini/libascendcl.so" "$sources/mini_ascendcl.c" || exit 2

fail() {
  failed=$((failed + 1))
  echo "FAILED $1"
  cat "$work/err"
}
# expect RULE CASE FLAG...: exactly this rule is told (- for none), and the program ends as it does by itself.
expect() {
  local rule=$1 case=$2 status=0 told=""
  shift 2
  [ "$rule" = - ] || status=1
  [ "$case" = Crashes ] && status=139
  rm -f "$work/found"
  "$ropeway" check --json --output "$work/found" "$@" -- "$work/program" "$case" >"$work/out" 2>"$work/err"
  local got=$?
  [ -e "$work/found" ] && told=$(grep -o '"rule":"RW-[^T][^"]*"' "$work/found" | cut -d'"' -f4 | sort -u | tr '\n' ' ')
  [ -z "$told" ] && told=-
  [ "${told% }" = "$rule" ] && [ "$got" -eq "$status" ] || fail "$case $*: status $got, rules '${told% }'; wanted $status, '$rule'"
}

"$work/program" --list >"$work/cases" 2>/dev/null || LD_LIBRARY_PATH="$libraries" "$work/program" --list >"$work/cases"
count=0
while read -r case rule needs; do
  expect "$rule" "$case" --host-access=on
  [ "$needs" = basic ] && expect "$rule" "$case" --host-access=on --on "$work/mini"
  count=$((count + 1))
done <"$work/cases"
[ "$count" -ge 28 ] || fail "only $count cases"

# Told once for a place and a copy, with the line that touched, also when that called the C library.
"$ropeway" check --host-access=on -- "$work/program" CopiesWhatIsStored >"$work/out" 2>"$work/err"
line=$(grep -n 'in the C library' "$sources/host_pages.cpp" | cut -d: -f1)
grep -q "^HOST  RW-HOST-001  host code host_pages.cpp:$line reads block .* 64 KiB (aclrtMallocHost host_pages.cpp:[0-9]*), at +4096" "$work/err" || fail "the line of a memcpy"
grep -q "aclrtMemcpyAsync host_pages.cpp:[0-9]* (stream 1 #1) writes it, and may not have run yet" "$work/err" || fail "the copy"
"$ropeway" check --host-access=on -- "$work/program" RefillsInALoop >"$work/out" 2>"$work/err"
grep -q "^ropeway check: 1 error," "$work/err" || fail "once for each place"

# A sample finds what is done often, and off finds nothing.
expect RW-HOST-002 RefillsInALoop --host-access=sample
expect - RefillsInALoop
expect - RefillsInALoop --host-access=off
"$ropeway" check --host-access=often -- "$work/program" RefillsInALoop >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || fail "a word that is none"
echo "$count cases, $failed failed"
[ "$failed" -eq 0 ]
