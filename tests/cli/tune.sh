#!/bin/bash
# Where the way in which bytes are copied comes from: the table, the row that `ropeway tune` keeps, settings; and that `ropeway doctor` says
# so. No figure is judged.
# Usage: tune.sh ROPEWAY
set -u

ropeway=${1:?usage: tune.sh ROPEWAY}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for name in $(compgen -e | grep -E '^(ROPEWAY|ASCEND|HCCL|SOC)_'); do unset "$name"; done
export ROPEWAY_ENGINE=cpu XDG_CONFIG_HOME=$work/config
failed=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

# in_force [VARIABLE=VALUE...]: doctor's line about copies; what the library says goes to $work/log.
in_force() { env "$@" "$ropeway" doctor 2>"$work/log" | grep -E '^[a-z]+ +copies '; }

# expect WHAT PATTERN TEXT
expect() { grep -qE "$2" <<<"$3" || fail "$1: $3"; }

expect "without a row" '; built in for ' "$(in_force)"

# --- A row of one's own ---
# On one core, where there is less to measure.
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$core" "$ropeway" tune --dry-run >"$work/said" 2>&1 || fail "tune --dry-run: $(cat "$work/said")"
[ -e "$work/config" ] && fail "a dry run keeps something"
taskset -c "$core" "$ropeway" tune --dry-run --json 2>/dev/null >"$work/json" || fail "tune --json"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["teams"][0]["threads"] == 1' "$work/json" || fail "not JSON alone: $(cat "$work/json")"
grep -q '^measuring how many threads$' "$work/said" || fail "how far it is: $(cat "$work/said")"
grep -qE '^stream=[a-z0-9_]+ cached=[a-z0-9_]+ cached_long=[a-z0-9_]+ long_from=[0-9]+ ahead=[0-9]+ ahead_span=[0-9]+ ' "$work/said" || fail "a dry run tells no row: $(cat "$work/said")"
"$ropeway" tune >"$work/said" 2>&1 || fail "tune: $(cat "$work/said")"
row=$work/config/ropeway/copy_profile
grep -q '^cpu=' "$row" || fail "tune keeps no row"
expect "with the row" "^ok .*; measured by ropeway tune, $row" "$(in_force)"
[ -s "$work/log" ] && fail "a good row is complained about: $(cat "$work/log")"
expect "the row and a setting" '^ok .*stream=libc cached=libc cached_long=libc .*measured by .*; methods by ROPEWAY_COPY_METHOD' "$(in_force ROPEWAY_COPY_METHOD=libc)"
expect "lanes by a setting" ' lanes=5; .*; lanes by ROPEWAY_LANES' "$(in_force ROPEWAY_LANES=5)"
expect "no home" '; built in for ' "$(in_force -u XDG_CONFIG_HOME -u HOME)"

# --- Rows that cannot be used ---
sed -i 's/^cpu=.*/cpu=Z80-1-1/' "$row"
expect "the row of another CPU" '^note .*; built in for .* is ignored: it was measured on Z80-1-1' "$(in_force)"
grep -q "^ropeway: $row is ignored: " "$work/log" || fail "an ignored row is not said: $(cat "$work/log")"
echo "garbage" >"$row"
expect "garbage" '^note .*; built in for .* is ignored: ' "$(in_force)"
rm "$row"

# --- Methods and cores ---
for method in avx512 avx2 sse2 rep_movsb neon libc; do
  line=$(in_force ROPEWAY_COPY_METHOD=$method)
  grep -qE "stream=$method cached=$method cached_long=$method |ROPEWAY_COPY_METHOD=$method cannot be used: this CPU has " <<<"$line" || fail "$method: $line"
done
for method in rep_movsb libc; do  # no machine takes these by itself; unit tests have the bytes of all
  ROPEWAY_COPY_METHOD=$method "$ropeway" demo >"$work/said" 2>&1 || fail "the demo with $method: $(tail -3 "$work/said")"
done
line=$(taskset -c "$core" "$ropeway" doctor 2>/dev/null | grep -E '^[a-z]+ +copies ')
expect "one core" ' lanes=1;' "$line"

[ "$failed" -eq 0 ] && echo "copies are as they should be"
