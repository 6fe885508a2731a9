#!/bin/bash
# What the command says: help, the manual page, mistakes in the command line, answers for machines, colours, and exit statuses.
# Usage: command.sh ROPEWAY
set -u

ropeway=${1:?usage: command.sh ROPEWAY}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export ROPEWAY_ENGINE=cpu
unset NO_COLOR
failed=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

# says STATUS TEXT ARGUMENTS...: the status, and that all of what is said, on either channel, contains the text.
says() {
  local status=$1 text=$2 said
  shift 2
  said=$("$ropeway" "$@" 2>&1 </dev/null)
  [ $? = "$status" ] || fail "ropeway $*: status is not $status: $said"
  case $said in *"$text"*) ;; *) fail "ropeway $*: '$text' is not in: $said" ;; esac
}

# json ARGUMENTS...: the answer is JSON.
json() { "$ropeway" "$@" 2>/dev/null | python3 -c 'import json, sys; json.load(sys.stdin)' || fail "ropeway $*: no JSON"; }

# --- Mistakes: one line each, with what to do ---
says 2 "a command is wanted; ropeway help tells them"
says 2 "there is no command 'benhc'; did you mean 'bench'?" benhc
says 2 "there is no command 'xyzzy'; ropeway help tells them" xyzzy
says 2 "ropeway bench: '--fliter' is not expected; did you mean '--filter'?" bench --fliter x
says 2 "ropeway doctor: 'everything' is not expected; ropeway help doctor tells the options" doctor everything
says 2 "ropeway: '--bogus' is not expected; ropeway help tells the options" --bogus
says 2 "ropeway exec: PROGRAM is required; ropeway help exec tells the options" exec
says 2 "ropeway exec: --lanes: a number from 1 to 64 is wanted" exec --lanes 0 -- true
says 2 "ropeway exec: --faults: in rule 1, 'aclrtMalloc:lots', at 'lots' fail=CODE, delay=TIME" exec --faults aclrtMalloc:lots -- true
says 2 "ropeway check: --fault: in rule 1, 'x:fail=1:peer=2', at 'peer=2' after=N" check --fault x:fail=1:peer=2 -- true
says 2 "--fault x:lost is for Ropeway's own library" check --on /usr/lib --fault x:lost -- true
says 2 "ropeway completion: shell: fish not in {bash,zsh}" completion fish
says 2 "ropeway help: there is no command 'doctro'; did you mean 'doctor'?" help doctro
says 2 "no workload has 'no such' in its name; ropeway bench --list tells them" bench --filter "no such"
says 2 "--compare" bench --compare "$work/not_there"
says 1 "is not what ropeway bench --save writes" bench --compare "$0"
says 127 "ropeway exec: cannot run no-such-program" exec -- no-such-program
says 126 "ropeway exec: cannot run $work" exec -- "$work"
says 143 "" exec -- sh -c 'kill -TERM $$'
says 7 "" exec -- sh -c 'exit 7'

# --- Help and the manual page tell every command and every flag, because both come from the parser ---
"$ropeway" help >"$work/help" || fail "help fails"
"$ropeway" manual >"$work/manual" || fail "manual fails"
commands=$(sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p' "$work/help")
[ "$(echo "$commands" | wc -l)" -ge 11 ] || fail "help tells few commands: $commands"
for command in $commands; do
  "$ropeway" help "$command" >"$work/one" || fail "help $command fails"
  grep -q "^\.SS ropeway $command\$" "$work/manual" || fail "the manual has no $command"
  # Under its own name, and not under that of the file which was run.
  "$ropeway" "$command" --help | sed "s|^Usage: .* $command |Usage: ropeway $command |" | diff -q - "$work/one" >/dev/null || fail "help $command and $command --help differ"
  sed "1,/^\.SS ropeway $command\$/d; /^\.SS/,\$d" "$work/manual" | sed 's/\\-/-/g' >"$work/section"
  for flag in $(grep -oE '^ +(-h,)?--[a-z-]+' "$work/one" | grep -oE '\-\-[a-z-]+'); do
    grep -q -- "$flag" "$work/section" || fail "the manual has no $command $flag"
  done
done
grep -q '^\.SH EXIT STATUS' "$work/manual" || fail "the manual has no exit statuses"
! command -v groff >/dev/null || [ -z "$(groff -man -Tascii -ww "$work/manual" 2>&1 >/dev/null)" ] || fail "groff complains about the manual"

# --- For machines ---
json doctor --json
json explore --seeds 1 --json -- true
json explore --seeds 1 --json -- false
# Of two that fail the one that was started first is told, also when it ends last.
says 1 '"schedule": "fast"' explore --seeds 1 --jobs 2 --json -- sh -c '
  case $ROPEWAY_SCHEDULE in fast) until [ -e "$1" ]; do :; done ;; *) : >"$1" ;; esac; exit 1' sh "$work/other_ran"

# --- bench ---
says 0 "single_4m" bench --list
says 0 "over PoCL" bench --list --explain --filter pocl
"$ropeway" bench --quick --filter to_host_16m --save "$work/before" >/dev/null 2>&1 || fail "bench --save fails"
says 0 "Beside $work/before" bench --quick --filter to_host_16m --compare "$work/before" --explain
# One lane of a file that knows better: whatever was measured now is worse, beyond all noise, or within noise of itself.
sed 's/"judged": [0-9.e+-]*/"judged": 1000000.0/; s/"noise": [0-9.e+-]*/"noise": 0.0/' "$work/before" >"$work/dream"
says 0 "worse" bench --quick --filter to_host_16m --compare "$work/dream"
sed 's/"noise": [0-9.e+-]*/"noise": 1000000.0/' "$work/before" >"$work/fog"
says 0 "within noise" bench --quick --filter to_host_16m --compare "$work/fog"

# --- Colours and bars on a terminal only ---
"$ropeway" doctor >"$work/plain" 2>&1
grep -q $'\x1b' "$work/plain" && fail "colours in a file"
if command -v script >/dev/null; then
  TERM=xterm script -qec "'$ropeway' doctor" /dev/null </dev/null >"$work/terminal"
  grep -q $'\x1b\\[32mok' "$work/terminal" || fail "no colours on a terminal"
  NO_COLOR=1 TERM=xterm script -qec "'$ropeway' doctor" /dev/null </dev/null | grep -q $'\x1b' && fail "colours against NO_COLOR"
  TERM=xterm script -qec "'$ropeway' bench --quick --filter to_host_16m" /dev/null </dev/null | grep -q '1 of 1: measuring to_host_16m' || fail "no bar"
fi

[ "$failed" -eq 0 ] && echo "the command is as it should be"
