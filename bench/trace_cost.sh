#!/usr/bin/env bash
# trace_cost.sh BUILD_FOLDER [COPIES]: what a trace costs and keeps. COPIES (1,000,000) copies of 4 KiB are submitted with and without a
# trace, in turn, five times: nanoseconds more a submit (the median of the differences), records dropped, bytes a task on disk. Then the
# program ends in every way there is: how many of the submits that had returned are not in the trace.
# Exits with 1 when a limit does not hold: 60 ns, none dropped, 64 bytes, none lost (100 ms after kill -9).
set -euo pipefail
build=$(cd "${1:?usage: trace_cost.sh BUILD_FOLDER [COPIES]}" && pwd)
copies=${2:-1000000}
tree=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ROPEWAY_ENGINE=cpu
c++ -std=c++17 -O2 -pthread -I "$tree/include" "$tree/bench/trace_cost.cpp" -o "$work/cost" -L "$build" -lascendcl
bad=0
must() { # must VALUE LIMIT TEXT
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }' && return
  echo "  too much: $3"
  bad=1
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
# traced END: runs the program under `ropeway trace`; sets tasks, dropped, submitted, ns.
traced() {
  local status=0
  "$build/ropeway" trace -o "$work/t.rwt" -- "$work/cost" "$2" "$1" "$work/counter" >"$work/ns" 2>"$work/said" || status=$?
  tasks=$(sed -n 's/.* has \([0-9]*\) tasks.*/\1/p' "$work/said")
  dropped=$(sed -n 's/.*: \([0-9]*\) records were dropped.*/\1/p' "$work/said")
  submitted=$(od -An -tu8 "$work/counter" | tr -d ' ')
  ns=$(cat "$work/ns")
  [ -n "$tasks" ] || { cat "$work/said" >&2; exit 1; }
}

for round in 1 2 3 4 5; do
  without=$("$work/cost" "$copies" exit "$work/counter")
  traced exit "$copies"
  size=$(stat -c %s "$work/t.rwt")
  awk -v a="$without" -v b="$ns" 'BEGIN { printf "%.1f\n", b - a }' >>"$work/more"
  awk -v r=$round -v a="$without" -v b="$ns" -v d="${dropped:-0}" -v s="$size" -v t="$tasks" 'BEGIN {
    printf "round %d: a submit %6.1f ns, traced %6.1f ns, more %5.1f ns; %d dropped; %.2f bytes a task\n", r, a, b, b - a, d, s / t }'
  must "${dropped:-0}" 0 "records dropped"
  must "$(awk -v s="$size" -v t="$tasks" 'BEGIN { print s / t }')" 64 "bytes a task"
  [ "$tasks" = "$copies" ] || must 1 0 "$tasks tasks of $copies"
done
more=$(median <"$work/more")
echo "more a submit, median: $more ns (must <= 60)"
must "$more" 60 "nanoseconds more a submit"

for end in exit _exit abort segv term kill; do
  traced $end 100000
  lost=$((submitted > tasks ? submitted - tasks : 0))
  awk -v e=$end -v l=$lost -v s="$submitted" -v n="$ns" 'BEGIN { printf "%-6s lost %d of %d submits (%.1f ms)\n", e, l, s, l * n / 1e6 }'
  if [ $end = kill ]; then
    must "$(awk -v l=$lost -v n="$ns" 'BEGIN { print l * n / 1e6 }')" 100 "milliseconds lost"
  else
    must $lost 0 "submits lost"
  fi
done
exit $bad
