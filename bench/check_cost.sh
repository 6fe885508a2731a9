#!/usr/bin/env bash
# check_cost.sh BUILD_FOLDER: what `ropeway check` adds to a submit of one copy and to an item of a batch, in nanoseconds, without and with it in
# one run.
set -euo pipefail
build=$(cd "${1:?usage: check_cost.sh BUILD_FOLDER}" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++17 -O2 -I "$tree/include" "$tree/bench/check_cost.cpp" -o "$work/cost" -L "$build" -lascendcl
for kind in single batch; do
  without=$(LD_LIBRARY_PATH=$build "$work/cost" $kind)
  with=$("$build/ropeway" check -- "$work/cost" $kind 2>/dev/null)
  awk -v kind=$kind -v a="$without" -v b="$with" 'BEGIN { printf "%-7s without %6.1f ns  with %6.1f ns  more %6.1f ns\n", kind, a, b, b - a }'
done
