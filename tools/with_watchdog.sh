#!/usr/bin/env bash
# with_watchdog.sh SECONDS COMMAND...: runs the command; if it and its children do nothing for SECONDS, prints the stack of every thread of
# them (when gdb is there), then ends them. A hang must leave evidence, and ctest's own time-out leaves none. What counts is the time that they
# have had on a core, so that a busy machine makes nothing a hang; who does nothing but spin is ended after ten times as long.
# ROPEWAY_FIXED_LAYOUT=1 runs the command without address randomisation.
set -u
limit=$1
shift

# The TSan runtime of GCC 12 refuses some of the address layouts that newer kernels choose.
if [ "${ROPEWAY_FIXED_LAYOUT:-0}" = 1 ] && setarch "$(uname -m)" -R true 2>/dev/null; then
  set -- setarch "$(uname -m)" -R "$@"
fi

# A process and everything below it, itself first.
tree() {
  local child
  echo "$1"
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do tree "$child"; done
}

dump_stacks() {
  echo "with_watchdog: stacks of process $1 ($(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null))"
  if command -v gdb >/dev/null 2>&1; then
    timeout 60 gdb -p "$1" -batch -ex "set pagination off" -ex "thread apply all bt" </dev/null 2>&1
  else
    echo "with_watchdog: gdb is not installed: only names and wait channels"
    for task in /proc/"$1"/task/*; do
      echo "$(basename "$task") $(cat "$task/comm" 2>/dev/null) $(cat "$task/wchan" 2>/dev/null)"
    done
  fi
}

# Hundredths of a second on a core, of everything below a process and of what has ended there.
cpu_time() {
  local pid
  for pid in $(tree "$1"); do cat "/proc/$pid/stat" 2>/dev/null; done |
    sed 's/.*) //' | awk '{ used += $12 + $13 + $14 + $15 } END { print used + 0 }'
}

"$@" &
command_pid=$!
step=5
trap 'kill -TERM "$sleep_pid" $(tree "$command_pid") 2>/dev/null; exit 143' TERM INT

idle=0
used=0
for ((passed = 0; idle < limit && passed < 10 * limit; passed += step)); do
  sleep "$step" >/dev/null 2>&1 &
  sleep_pid=$!
  wait -n -p finished "$command_pid" "$sleep_pid"
  status=$?
  if [ "$finished" = "$command_pid" ]; then
    kill "$sleep_pid" 2>/dev/null
    exit "$status"
  fi
  now=$(cpu_time "$command_pid")
  # A wait with a time limit may wake now and then.
  if [ $((now - used)) -ge 10 ]; then
    idle=0
    used=$now
  else
    idle=$((idle + step))
  fi
done

echo "with_watchdog: $idle s without work, $passed s in all: $*"
pids=$(tree "$command_pid")
for pid in $pids; do dump_stacks "$pid"; done
kill -KILL $pids 2>/dev/null
exit 124
