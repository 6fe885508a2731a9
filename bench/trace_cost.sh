#!/usr/bin/env bash
# trace_cost.sh BUILD_FOLDER [COPIES]: what a trace costs and keeps. COPIES (1,000,000) copies of 4 KiB are submitted with and without a
# trace, by 20 pairs of programs: nanoseconds more a submit. A lane that runs beside the submitter makes every submit dearer, traced or not,
# and the scheduler decides whether one does. So it is told in two ways, and the greater one counts: the median of the pairs' differences,
# and the difference between the shortest, which had no lane beside them.
# Then as many by one program: records dropped, bytes a task on disk. Then the program ends in every way there is: how many of the submits
# that had returned are not in the trace.
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

pairs=20
for ((pair = 0; pair < pairs; ++pair)); do
  without=$("$work/cost" $((copies / pairs)) exit "$work/counter")
  with=$(ROPEWAY_TRACE=$work/pair.rwt "$work/cost" $((copies / pairs)) exit "$work/counter")
  echo "$without" >>"$work/without"
  echo "$with" >>"$work/with"
  awk -v a="$without" -v b="$with" 'BEGIN { printf "%.1f\n", b - a }' >>"$work/more"
done
# at NAME WHICH: of the numbers in a file, from 0, the least, to 1
at() { sort -n "$work/$1" | awk -v which="$2" '{ all[NR] = $1 } END { print all[int(1 + (NR - 1) * which)] }'; }
for name in without with; do
  printf 'a submit, %-8s median %5.1f ns (%.1f to %.1f)\n' "$name:" "$(at $name 0.5)" "$(at $name 0)" "$(at $name 1)"
done
shortest=$(awk -v a="$(at without 0)" -v b="$(at with 0)" 'BEGIN { print b - a }')
printf 'more a submit:     median %5.1f ns, between the shortest %.1f ns (must <= 60)\n' "$(at more 0.5)" "$shortest"
must "$(at more 0.5)" 60 "nanoseconds more a submit"
must "$shortest" 60 "nanoseconds more a submit"

traced exit "$copies"
each=$(awk -v s="$(stat -c %s "$work/t.rwt")" -v t="$tasks" 'BEGIN { printf "%.2f", s / t }')
echo "$tasks tasks of $copies copies, ${dropped:-0} records dropped, $each bytes a task (must <= 64)"
must "${dropped:-0}" 0 "records dropped"
must "$each" 64 "bytes a task"
[ "$tasks" = "$copies" ] || must 1 0 "$tasks tasks of $copies"

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
