#!/usr/bin/env bash
# check_memory.sh BUILD_FOLDER [COPIES]: the memory of a program under `ropeway check` over 10 million copies. Fails when it grows by more than a
# megabyte behind the first tenth.
set -euo pipefail
build=$(cd "${1:?usage: check_memory.sh BUILD_FOLDER [COPIES]}" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c++ -std=c++17 -O2 -I "$tree/include" "$tree/bench/check_memory.cpp" -o "$work/memory" -L "$build" -lascendcl
"$build/ropeway" check -- "$work/memory" "${2:-10000000}" | tee "$work/told"
awk '{ kib[NR] = $3 } END { grown = kib[NR] - kib[2]; printf "%d KiB more behind the first tenth\n", grown; exit grown > 1024 }' "$work/told"
