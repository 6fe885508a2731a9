#!/bin/bash
# `ropeway ranks`: what ranks are told, how they are heard, and that none is left when one fails or the launcher is told to end. Other hosts are
# a stand-in for ssh that runs the command here.
# Usage: ranks.sh ROPEWAY EXAMPLES-FOLDER
set -u

ropeway=$(realpath "${1:?usage: ranks.sh ROPEWAY EXAMPLES}")
examples=$(realpath "${2:?}")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}
# expect WHAT EXPECTED SAID
expect() { [ "$2" = "$3" ] || fail "$1: '$3', expected '$2'"; }
# gone PID-FILE...: nothing of them runs. A rank that was killed is reaped before the launcher ends.
gone() {
  local file
  for file in "$@"; do
    [ -s "$file" ] || fail "$file: nothing was started"
    kill -0 "$(cat "$file")" 2>/dev/null && fail "$file: $(cat "$file") still runs"
  done
}
# lasting FILE: a program that says that it is there and runs until it is ended.
lasting='echo $$ >rank$RANK.pid; mkfifo never$RANK; exec cat never$RANK'

# --- What they are told ---
said=$("$ropeway" ranks -n 3 -- sh -c 'echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR"' | sort)
expect "variables" "[0] 0 3 0 3 127.0.0.1
[1] 1 3 1 3 127.0.0.1
[2] 2 3 2 3 127.0.0.1" "$said"
said=$("$ropeway" ranks -n 4 -- sh -c 'echo "$MASTER_PORT"' | sed 's/.* //' | sort -u | grep -cE '^[0-9]{2,5}$')
expect "one port for all" 1 "$said"
said=$("$ropeway" ranks -n 1 --port 4711 --master somewhere -- sh -c 'echo "$MASTER_ADDR:$MASTER_PORT"')
expect "given" "[0] somewhere:4711" "$said"
said=$("$ropeway" ranks -n 1 -- sh -c 'printf "a\nno end"; echo wrong >&2' 2>errors)
expect "lines" "[0] a
[0] no end" "$said"
expect "errors" "[0] wrong" "$(cat errors)"

# --- How they end ---
"$ropeway" ranks -n 2 -- true || fail "all is well: $?"
"$ropeway" ranks -n 3 -- sh -c "[ \$RANK = 1 ] || { $lasting; }; while ! [ -s rank0.pid -a -s rank2.pid ]; do :; done; exit 7" 2>errors
expect "the status of the first that failed" 7 $?
grep -q 'rank 1 ended with status 7; ending the others' errors || fail "not told: $(cat errors)"
gone rank0.pid rank2.pid
rm -f rank* never*
"$ropeway" ranks -n 2 -- sh -c 'kill -SEGV $$' 2>/dev/null
expect "a signal" 139 $?
"$ropeway" ranks -n 1 -- sh -c 'sleep 1000 & echo $! >child.pid; setsid sleep 1000 & echo $! >daemon.pid'
expect "a rank that leaves a child" 0 $?
gone child.pid daemon.pid
"$ropeway" ranks -n 2 -- ./no-such-program 2>errors
expect "no program" 127 $?
grep -q 'cannot run ./no-such-program' errors || fail "not told: $(cat errors)"

# --- Signals reach them; an end that is ignored comes by force ---
signalled() {
  local signal=$1 expected=$2
  shift 2
  env --default-signal=INT "$ropeway" ranks "$@" -- sh -c "$lasting" 2>/dev/null &  # a shell takes INT from what is in the background
  local launcher=$!
  until [ -p never0 ] && [ -p never1 ] && [ -s rank0.pid ] && [ -s rank1.pid ]; do :; done
  kill "-$signal" $launcher
  wait $launcher
  expect "$signal to the launcher, $*" "$expected" $?
  gone rank0.pid rank1.pid
  rm -f rank* never*
}
signalled TERM 143 -n 2
signalled INT 130 -n 2
signalled HUP 129 -n 2

# --- Other hosts ---
mkdir bin
cat >bin/ssh <<'END'
#!/bin/bash
echo "$1" >>"$SSH_LOG"
shift
cd / && env -i PATH="$PATH" sh -c "$*"
END
chmod +x bin/ssh
export PATH=$work/bin:$PATH SSH_LOG=$work/ssh.log
said=$(HCCL_EXEC_TIMEOUT=77 OTHER=1 "$ropeway" ranks --hosts me@far:2,localhost,near -- sh -c \
  'echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT $HCCL_EXEC_TIMEOUT ${OTHER-no} it'"'"'s $(pwd)"' | sort)
expect "variables of hosts" "[0] 0 4 0 2 far 29500 77 no it's $work
[1] 1 4 1 2 far 29500 77 no it's $work
[2] 2 4 0 1 far 29500 77 1 it's $work
[3] 3 4 0 1 far 29500 77 no it's $work" "$said"
expect "hosts" "me@far
me@far
near" "$(sort ssh.log)"
expect "shares" "2 2 1" "$("$ropeway" ranks -n 5 --hosts a,b,c -- sh -c 'echo $LOCAL_WORLD_SIZE:$LOCAL_RANK' | sed -n 's/.* \([0-9]*\):0/\1/p' | sort -r | xargs)"
"$ropeway" ranks --hosts a,b -- sh -c "[ \$RANK = 1 ] || { $lasting; }; while ! [ -s rank0.pid ]; do :; done; exit 9" 2>/dev/null
expect "a failure on another host" 9 $?
gone rank0.pid
rm -f rank* never*
signalled TERM 143 --hosts a,b
signalled INT 130 --hosts a,localhost

# --- What cannot be ---
wrong() {
  local pattern=$1 said
  shift
  said=$("$ropeway" ranks "$@" -- true 2>&1)
  expect "ranks $*" 2 $?
  grep -qE -- "$pattern" <<<"$said" || fail "ranks $*: $said"
}
wrong 'how many ranks'
wrong "'a:0' is no HOST:RANKS" --hosts a:0
wrong "'a:x' is no HOST:RANKS" --hosts a:x
wrong "'' names no host" --hosts a,
wrong "'-oProxy:1' names no host" --hosts=-oProxy:1
wrong 'room for 3 ranks, and -n asks for 4' -n 4 --hosts a:1,b:2
wrong 'room for 3 ranks, and -n asks for 2' -n 2 --hosts a:2,b

# --- A whole program ---
"$ropeway" ranks -n 2 -- sh -c "exec '$examples/ring_exchange' 2 \$RANK '$work/root'" >out 2>&1 || fail "ring_exchange: $(cat out)"
grep -q '^\[1\] ' out || fail "ring_exchange says nothing: $(cat out)"

[ "$failed" -eq 0 ] && echo "ranks are looked after"
