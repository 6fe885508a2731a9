#!/usr/bin/env bash
# with_watchdog.sh SECONDS COMMAND...: runs the command; if it is still running after SECONDS, prints the stack of every
# thread of it and of its children (when gdb is there), then ends them. A hang must leave evidence, and ctest's own
# time-out leaves none. ROPEWAY_FIXED_LAYOUT=1 runs the command without address randomisation.
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

"$@" &
command_pid=$!
sleep "$limit" >/dev/null 2>&1 &
sleep_pid=$!
trap 'kill -TERM "$sleep_pid" $(tree "$command_pid") 2>/dev/null; exit 143' TERM INT

wait -n -p finished "$command_pid" "$sleep_pid"
status=$?
if [ "$finished" = "$command_pid" ]; then
  kill "$sleep_pid" 2>/dev/null
  exit "$status"
fi

echo "with_watchdog: still running after $limit s: $*"
pids=$(tree "$command_pid")
for pid in $pids; do dump_stacks "$pid"; done
kill -KILL $pids 2>/dev/null
exit 124
