#!/usr/bin/env bash
# explore.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: a missing wait between two streams fails under some order within ten seeds,
# the seed that is told fails again, and a right program passes all of them.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
"$compiler" -std=c++17 -I "$include" "$sources/missing_wait.cpp" -o "$work/missing_wait" -L "$libraries" -lascendcl || exit 2

"$ropeway" explore --seeds 10 -- "$work/missing_wait" >"$work/out" 2>&1 && { echo "FAILED: not found"; cat "$work/out"; exit 1; }
schedule=$(grep -o 'ROPEWAY_SCHEDULE=random:[0-9]*' "$work/out") || { echo "FAILED: no seed"; cat "$work/out"; exit 1; }
again=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
  env "$schedule" LD_LIBRARY_PATH="$libraries" "$work/missing_wait" >"$work/again" || again=$((again + 1))
done
[ "$again" -eq 10 ] || { echo "FAILED: $schedule was wrong in $again of 10 runs"; exit 1; }
"$ropeway" explore --seeds 10 -- "$work/missing_wait" right >"$work/out" 2>&1 || { echo "FAILED: right program"; cat "$work/out"; exit 1; }
grep -q '13 runs, all good' "$work/out" || { cat "$work/out"; exit 1; }
