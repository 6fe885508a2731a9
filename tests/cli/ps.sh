#!/bin/bash
# `ropeway ps` and gdb's `info ropeway` on processes that stand still in known ways, on one that never does, and on those that have nothing
# to be seen. Usage: ps.sh ROPEWAY PS_TARGET GDB_SCRIPT
set -u

ropeway=${1:?usage: ps.sh ROPEWAY PS_TARGET GDB_SCRIPT}
target=${2:?}
gdb_script=${3:?}
work=$(mktemp -d) || exit 2
export ROPEWAY_ENGINE=cpu ROPEWAY_SCHEDULE=fast
failed=0
pid=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

# start WAY: a target that has said "ready"; it ends with `finish`.
start() {
  mkfifo "$work/in" "$work/out"
  "$target" "$1" <"$work/in" >"$work/out" &
  pid=$!
  exec 8>"$work/in" 9<"$work/out"
  read -r word <&9
  [ "$word" = ready ] || fail "ps_target $1 says '$word'"
}
finish() {
  exec 8>&-
  wait "$pid" || fail "the target ended with $?"
  exec 9<&-
  rm "$work/in" "$work/out"
}
trap 'exec 8>&-; rm -rf "$work"' EXIT

# says STATUS TEXT ARGUMENTS...
says() {
  local status=$1 text=$2 said
  shift 2
  said=$("$ropeway" ps "$@" 2>&1 </dev/null)
  [ $? = "$status" ] || fail "ropeway ps $*: status is not $status: $said"
  case $said in *"$text"*) ;; *) fail "ropeway ps $*: '$text' is not in: $said" ;; esac
}

# tells FILE: what is there of the process that stands still.
tells() {
  local text
  for text in 'memory of device 0: 1.0 MiB of' 'pinned host memory: 1 MiB of' 'with 11 tasks pending and 6 MiB in flight' \
    'aclrtLaunchHostFunc *waits for the function .*to return' 'aclrtStreamWaitEvent *waits for event [0-9]*, which stream [0-9]* records as its task 5' \
    'aclrtValueWait *waits for the value at 0x[0-9a-f]* to be at least 7' 'aclrtWaitAndResetNotify *waits for notify [0-9]* to be recorded'; do
    grep -q "$text" "$1" || fail "'$text' is not in: $(cat "$1")"
  done
}

# --- What cannot be looked at: one line each ---
says 2 "ropeway ps: pid: Value abc not in range" abc
says 2 "ropeway ps: pid is required" --json
says 2 "ropeway ps: there is no process 4194304" 4194304
says 2 "process $$ has no libascendcl.so of Ropeway in it: " $$
sleep 1000 &
other=$!
# The tree may lie where that user cannot look.
chmod 755 "$work"
cp "$ropeway" "${ropeway%/*}/libascendcl.so" "$work"
somebody=(setpriv --reuid=65534 --clear-groups env LD_LIBRARY_PATH="$work")
if [ "$(id -u)" = 0 ] && "${somebody[@]}" "$work/ropeway" --version >/dev/null 2>&1; then
  said=$("${somebody[@]}" "$work/ropeway" ps "$other" 2>&1)
  [ $? = 1 ] || fail "a process of another user: status is not 1"
  case $said in *"process $other may not be looked at by this user"*) ;; *) fail "a process of another user: $said" ;; esac
fi
kill "$other"

# --- A process that stands still ---
start ""
"$ropeway" ps "$pid" >"$work/said" 2>&1
if grep -q "may not be looked at" "$work/said"; then
  echo "skipped: this machine lets nobody look into a process: $(cat "$work/said")"
  finish
  exit 77
fi
tells "$work/said"
grep -q "^process $pid: .*ps_target" "$work/said" || fail "no name: $(cat "$work/said")"
grep -q 'the function StandStill' "$work/said" || fail "no name of the function: $(cat "$work/said")"
"$ropeway" ps --json "$pid" | python3 -c '
import json, sys
state = json.load(sys.stdin)
assert state["pid"] == int(sys.argv[1]) and state["started"] and state["pending"] == 11 and state["bytes_in_flight"] == 6 << 20, state
assert {one["place"]: one["bytes"] for one in state["memory"]} == {"device 0": (1 << 20) + 32, "host": 1 << 20}, state
heads = sorted((one["head_kind"], one["pending"]) for one in state["streams"] if one["pending"])
assert heads == [("call", 5), ("wait", 1), ("wait", 3), ("wait_value", 2)], heads
assert any(one["default"] and one["doing"] == "idle" for one in state["streams"]), state
' "$pid" || fail "--json: $("$ropeway" ps --json "$pid")"
if command -v gdb >/dev/null; then
  export ROPEWAY_BIN=${ropeway%/*}
  gdb -nx -batch -p "$pid" -ex "source $gdb_script" -ex "info ropeway" >"$work/said" 2>&1
  tells "$work/said"
else
  echo "not tried: gdb is not here"
fi
finish

# --- A process that changes all the time: every look finds something that can be ---
start busy
for ((i = 0; i < 200; ++i)); do "$ropeway" ps --json "$pid" || echo "null $?"; done >"$work/looks" 2>&1
python3 - "$work/looks" <<'END' || fail "a busy process: $(head -c 2000 "$work/looks")"
import json, sys
text, at, looks = open(sys.argv[1]).read(), 0, []
while at < len(text):
    state, at = json.JSONDecoder().raw_decode(text, at)
    at += len(text[at:]) - len(text[at:].lstrip())
    looks.append(state)
assert len(looks) == 200
for state in looks:
    for stream in state["streams"]:
        assert stream["pending"] <= 5 and stream["bytes_in_flight"] == stream["pending"] << 20, stream
        assert stream["head"] == ("aclrtMemcpyAsync" if stream["pending"] else ""), stream
END
finish

# --- One that has not used a device ---
start idle
says 0 "no device has been used yet" "$pid"
finish

# --- A core file ---
if command -v gdb >/dev/null; then
  core=$work/core
  start ""
  gdb -nx -batch -p "$pid" -ex "generate-core-file $core" >/dev/null 2>&1
  finish
  gdb -nx -batch "$target" "$core" -ex "source $gdb_script" -ex "info ropeway" >"$work/said" 2>&1
  tells "$work/said"
  gdb -nx -batch /bin/true -ex "source $gdb_script" -ex "info ropeway" >"$work/said" 2>&1
  grep -q "no libascendcl.so of Ropeway is loaded here" "$work/said" || fail "gdb on another program: $(cat "$work/said")"
fi

[ "$failed" -eq 0 ] && echo "what is looked into is told"
