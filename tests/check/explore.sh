#!/usr/bin/env bash
# explore.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: a missing wait between two streams, and a batch that relies on the order of its
# items, fail under some order within ten seeds; the schedule that is told fails again every time, and right programs pass all of
# them.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $1"
  cat "$work/out"
  exit 1
}
# wrong_runs NAME SCHEDULE...: how many of the runs give wrong bytes.
wrong_runs() {
  local name=$1 wrong=0
  shift
  for schedule in "$@"; do
    ROPEWAY_SCHEDULE=$schedule LD_LIBRARY_PATH="$libraries" "$work/$name" >/dev/null || wrong=$((wrong + 1))
  done
  echo "$wrong"
}

for name in missing_wait order_in_a_batch; do
  "$compiler" -std=c++17 -I "$include" "$sources/$name.cpp" -o "$work/$name" -L "$libraries" -lascendcl || exit 2
  "$ropeway" explore --seeds 10 -- "$work/$name" >"$work/out" 2>&1 && fail "$name: not found"
  schedule=$(grep -oE 'ROPEWAY_SCHEDULE=(random:[0-9]+|latest)' "$work/out" | cut -d= -f2) || fail "$name: no schedule"
  ten=("$schedule" "$schedule" "$schedule" "$schedule" "$schedule" "$schedule" "$schedule" "$schedule" "$schedule" "$schedule")
  again=$(wrong_runs "$name" "${ten[@]}")
  [ "$again" -eq 10 ] || fail "$name: $schedule was wrong in $again of 10 runs"
  "$ropeway" explore --seeds 10 -- "$work/$name" right >"$work/out" 2>&1 || fail "$name: the right program"
  grep -q '13 runs, all good' "$work/out" || fail "$name: the right program's runs"
done
[ "$(wrong_runs order_in_a_batch latest)" -eq 1 ] || fail "latest does a batch in the order of its items"
