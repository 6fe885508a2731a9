#!/usr/bin/env bash
# callgrind_submit.sh LIBRARY_FOLDER [LIMIT [TRACED_LIMIT]]: counts the instructions of one aclrtMemcpyAsync of 4 KiB, pinned, to a
# busy stream. LIBRARY_FOLDER holds libascendcl.so. With a LIMIT, exits with 1 when the count is above it; with a TRACED_LIMIT, counts
# those of a submit under a trace, too.
set -euo pipefail

if [ $# -lt 1 ] || [ ! -e "$1/libascendcl.so" ]; then
  echo "usage: callgrind_submit.sh LIBRARY_FOLDER [LIMIT [TRACED_LIMIT]]   (no libascendcl.so in '${1:-}')" >&2
  exit 2
fi
command -v valgrind >/dev/null || { echo "callgrind_submit.sh: valgrind is not installed" >&2; exit 2; }

source_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
library=$(cd -- "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${CC:-cc}" -O2 -pthread -o "$work/submit" "$source_root/bench/callgrind_submit.c" -I"$source_root/include" \
  -L"$library" -lascendcl -Wl,-rpath,"$library"
# One small device: valgrind keeps track of every reserved address. Only the call itself is counted.
count() {
  local submits
  submits=$(ROPEWAY_DEVICES=1 ROPEWAY_DEVICE_MEMORY=1GiB valgrind --tool=callgrind --toggle-collect=aclrtMemcpyAsync \
    --callgrind-out-file="$work/out" "$work/submit" 2>"$work/log") || { cat "$work/log" >&2; exit 1; }
  awk -v submits="$submits" '$1 == "totals:" { print int($2 / submits) }' "$work/out"
}
each=$(count)
echo "instructions per submit: $each (must <= 260, aim <= 120)"
[ $# -lt 2 ] || [ "$each" -le "$2" ] || exit 1
[ $# -ge 3 ] || exit 0
each=$(ROPEWAY_TRACE="$work/t.rwt" count)
echo "instructions per traced submit: $each (must <= $3)"
[ "$each" -le "$3" ]
