#!/bin/bash
# Every flag of every command, right and wrong, with what it makes the command say. What there is comes from `ropeway help`: a flag that no row
# tries fails the test. What the flags mean in depth has tests of its own. No figure is judged.
# Usage: flags.sh ROPEWAY EXAMPLES-FOLDER
set -u

ropeway=${1:?usage: flags.sh ROPEWAY EXAMPLES}
program=${2:?}/hello_copy
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for name in $(compgen -e | grep -E '^(ROPEWAY|ASCEND|HCCL|SOC)_'); do unset "$name"; done
export ROPEWAY_ENGINE=cpu XDG_CONFIG_HOME=$work/config
cd "$work" || exit 2
failed=0
tried=" "

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

# row STATUS PATTERN COMMAND ARGUMENTS...: the status, and that what is said, on either channel, has a line that matches.
row() {
  local status=$1 pattern=$2 said word
  shift 2
  said=$("$ropeway" "$@" 2>&1 </dev/null)
  [ $? = "$status" ] || fail "ropeway $*: status is not $status: $said"
  grep -qE -- "$pattern" <<<"$said" || fail "ropeway $*: '$pattern' is not in: $said"
  for word in "${@:2}"; do
    [ "$word" = -- ] && break
    case $word in -*) tried+="$1:${word%%=*} " ;; esac
  done
}
# has PATTERN FILE
has() { grep -qE -- "$1" "$2" || fail "'$1' is not in $2"; }

# --- demo ---
row 0 '"failed": 0' demo --json --page page.html
has 'Ropeway report' page.html

# --- exec: each setting reaches the program ---
while read -r flag variable value; do
  row 0 "^$variable=$value\$" exec "$flag" "$value" -- env
done <<'END'
--engine ROPEWAY_ENGINE cpu
--devices ROPEWAY_DEVICES 2
--device-memory ROPEWAY_DEVICE_MEMORY 1GiB
--soc ROPEWAY_SOC Ascend910B1
--lanes ROPEWAY_LANES 3
--copy-method ROPEWAY_COPY_METHOD libc
--cuda-ctas ROPEWAY_CUDA_CTAS 8
--schedule ROPEWAY_SCHEDULE latest
--trace ROPEWAY_TRACE t.rwt
--log-level ROPEWAY_LOG_LEVEL 4
--python-extensions ROPEWAY_PYTHON_EXTENSIONS 0
--faults ROPEWAY_FAULTS aclrtMalloc:207001
--hccl-link ROPEWAY_HCCL_LINK tcp
--hccl-tls ROPEWAY_HCCL_TLS 1
--hccl-link-timeout ROPEWAY_HCCL_LINK_TIMEOUT 20
END
for flag in host-access strict-alignment; do
  variable=ROPEWAY_$(tr a-z- A-Z_ <<<"$flag")
  row 0 "^$variable=1\$" exec "--$flag" -- env
done
while read -r flag value wanted; do
  row 2 "ropeway exec: $flag: $wanted" exec "$flag" "$value" -- true
done <<'END'
--engine gpu auto, cpu or cuda is wanted
--devices 0 a number from 1 to .* is wanted
--device-memory lots a size .*is wanted
--lanes many a number from 1 to 64 is wanted
--copy-method memcpy .* is wanted
--cuda-ctas 0 a number from 1 to .* is wanted
--schedule often .* is wanted
--log-level 9 a number from 0 to 4 is wanted
--python-extensions 2 .* is wanted
--faults x .* is wanted
--hccl-link smoke tcp or ucx is wanted
--hccl-tls yes 0 or 1 is wanted
--hccl-link-timeout 0 a number from 1 to .* is wanted
END

# --- ranks: tests/cli/ranks.sh has more ---
row 0 '^\[0\] x:7$' ranks -n 1 --master x --port 7 -- sh -c 'echo $MASTER_ADDR:$MASTER_PORT'
row 0 '^\[1\] 2$' ranks --ranks 2 --hosts localhost:2 -- sh -c 'echo $WORLD_SIZE'
row 2 'ropeway ranks: --ranks: Value 0 not in range' ranks --ranks 0 -- true
row 2 'ropeway ranks: --port: Value 70000 not in range|ropeway ranks: .*--port' ranks --port 70000 -- true
row 2 'ropeway ranks: --hosts: .* names no host' ranks --hosts , -- true
row 2 'ropeway ranks: PROGRAM is required' ranks -n 1

# --- check ---
printf 'RW-RACE-001 nowhere\n' >suppressed
row 0 '' check --json --stacks --every --suppress suppressed --output found --hang 30 -- "$program"
row 0 '' check --host-access sample -- "$program"
row 1 'RW-LEAK-001' check --leaks -- "$program"
row 0 '' check --on "${ropeway%/*}/libascendcl.so" -- "$program"
row 1 'aclrtMalloc|injected|fault|507899' check --fault aclrtMalloc:507899 -- "$program"
row 2 "ropeway check: --on: Path does not exist: nowhere" check --on nowhere -- "$program"
row 2 "ropeway check: --suppress: File does not exist: nowhere" check --suppress nowhere -- "$program"
row 2 "ropeway check: --host-access: maybe not in \{on,sample,off\}" check --host-access maybe -- "$program"
row 2 "ropeway check: --hang: Value 0 not in range" check --hang 0 -- "$program"
row 2 "ropeway check: .*aclrtMalloc" check --fault aclrtMalloc -- "$program"
row 2 "ropeway check: PROGRAM is required" check

# --- explore ---
row 0 '"runs": 5' explore --seeds 2 --first 7 --jobs 1 --json -- true
row 2 "ropeway explore: --jobs: Value 0 not in range" explore --jobs 0 -- true
row 2 "ropeway explore: .*--seeds" explore --seeds few -- true
row 2 "ropeway explore: .*--first" explore --first none -- true
row 2 "ropeway explore: PROGRAM is required" explore

# --- trace and report ---
row 0 't.rwt has' trace --output t.rwt -- "$program"
row 0 't.rwt has' trace -o t.rwt -- "$program"
row 1 'nowhere/t.rwt' trace -o nowhere/t.rwt -- "$program"
row 0 '"tasks": [0-9]+' trace --json -o t.rwt -- "$program"
row 0 '"file": "merged.rwt"' trace merge --json t.rwt -o merged.rwt
row 0 '"edges": [0-9]+' trace export --json t.rwt -o t.pftrace
row 0 '' trace merge t.rwt --output merged.rwt
row 0 '' trace export t.rwt -o t.json
row 2 "ropeway trace: .*--output is required" trace merge t.rwt
row 1 'ropeway trace merge: .*nowhere' trace merge nowhere -o merged.rwt
row 0 'host waiting' report t.rwt
row 0 '"summary": "host waiting' report --json t.rwt
printf '{"rule": "RW-RACE-001", "title": "planted"}\n' >findings
row 0 '^page: p.html$' report t.rwt -o p.html --limit 10 --findings findings
has 'planted' p.html
row 0 '^page: p.html$' report t.rwt --output p.html --limit 10 --json
row 1 'ropeway report: nowhere/p.html cannot be written' report t.rwt -o nowhere/p.html --limit 10
row 1 'ropeway report: --findings suppressed: line 1 is not a finding' report t.rwt -o p.html --limit 10 --findings suppressed
row 2 'ropeway report: --findings: File does not exist: nowhere' report t.rwt --findings nowhere
row 2 'ropeway report: --limit: Value -1 not in range' report t.rwt --limit=-1
row 2 'ropeway report: traces: File does not exist: nowhere' report nowhere
row 2 'ropeway report: traces is required' report

# --- ps: tests/cli/ps.sh looks at processes ---
row 2 'ropeway ps: process [0-9]+ has no libascendcl.so|ropeway ps: there is no process' ps --json $$

# --- bench ---
workload=to_host_16m
row 0 "^ *$workload" bench --list --engine cpu --filter "$workload"
row 0 "$workload.* [a-z]+" bench --list --explain --filter "$workload"
row 0 'goals met' bench --quick --filter "$workload" --json bench.json --html bench.html
has "\"$workload\"" bench.json
has 'of 1 goals met|of 0 goals met|goals met, 0 skipped' bench.html
row 0 'goals met' bench --quick --filter "$workload" --save saved.json
row 0 'Beside saved.json' bench --quick --filter "$workload" --compare saved.json
row 0 'streams' bench --scale --list
row 0 'all_to_all_8x256m' bench --hccl --list
row 2 'excludes' bench --hccl --scale
row 2 "no workload has 'nothing_like_it'" bench --hccl --filter nothing_like_it
printf '#!/bin/sh\nPATH=/nowhere exec "%s" "$@"\n' "$ropeway" >without_mpirun && chmod +x without_mpirun
ropeway=./without_mpirun row 2 "no workload has 'nothing_like_it'" bench --hccl --filter nothing_like_it
ropeway=./without_mpirun row 0 'SKIPPED  beside Open MPI: there is no mpirun' bench --hccl --quick --filter all_gather_2x1k
row 0 'all copies .*[0-9]' bench --html program.html --json program.json -- "$program"
row 0 'untraced, .* traced: ' bench -- "$program"
row 0 "machine's limit is" bench --engine cpu -- "$program"
has '"directions"' program.json
has 'Measured' program.html
row 1 'ropeway bench: nothing was recorded' bench -- true
row 7 '' bench -- sh -c 'exit 7'
row 127 'ropeway bench: cannot run no-such-program' bench -- no-such-program
for flag in --list --explain --quick --scale --hccl "--filter=x" "--compare=saved.json"; do
  row 2 "ropeway bench: PROGRAM excludes ${flag%%=*}; ropeway help bench tells the options" bench "$flag" -- "$program"
done
row 2 "ropeway bench: there is no engine 'gpu' here" bench --engine gpu --list
row 1 'cannot write nowhere/x' bench --quick --filter "$workload" --save nowhere/x
row 1 'nowhere/x cannot be written' bench --quick --filter "$workload" --html nowhere/x
row 2 'ropeway bench: --compare: File does not exist: nowhere' bench --compare nowhere

# --- the rest ---
row 0 '"problems": ' doctor --json
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
said=$(taskset -c "$core" "$ropeway" tune --dry-run --json) && grep -q '"kept": false' <<<"$said" || fail "tune --dry-run --json: $said"
said=$(taskset -c "$core" "$ropeway" tune --table) && grep -qE '^libc +[0-9.]+ +[0-9.]+ ' <<<"$said" || fail "tune --table: $said"
row 2 'ropeway tune: --table excludes --json' tune --table --json
tried+="tune:--dry-run tune:--json tune:--table "
said=$("$ropeway" env --json 2>/dev/null) && { grep -q LD_LIBRARY_PATH <<<"$said" || fail "env --json: $said"; }  # 1, and a line, outside of a tree
tried+="env:--json "
row 0 'complete -' completion
row 0 'bashcompinit' completion zsh
row 2 'ropeway completion: shell: fish not in' completion fish
row 0 'ropeway COMMAND' help
row 0 '^\.TH ROPEWAY' manual

# --- What help tells: all of it was tried, and none of it takes what it must not ---
"$ropeway" help >help || fail "help fails"
for command in $(sed -n 's/^  \([a-z]\{2,\}\) .*/\1/p' help); do
  row 0 "^Usage: .*$command" "$command" --help
  row 0 "^Usage: .*$command" "$command" -h
  row 2 "^ropeway $command: '--no-such-flag' is not expected" "$command" --no-such-flag
  "$ropeway" help "$command" >one || fail "help $command fails"
  while read -r flags kind; do
    for flag in ${flags//,/ }; do
      case $tried in *" $command:$flag "*) ;; *) fail "$command $flag has no row here" ;; esac
      if [ "$kind" = value ]; then
        row 2 "^ropeway $command: .*(requires|required)" "$command" "$flag"
      elif [ "${flag#--}" != "$flag" ] && [ "$flag" != --help ]; then
        row 2 "^ropeway $command: .*$flag" "$command" "$flag=maybe"
      fi
    done
  done < <(sed -nE 's/^  (-[a-zA-Z,-]+)( ([A-Z]|[a-z0-9]+\|).*| .*|)$/\1 \3/p' one | sed -E 's/ [^ ]+$/ value/')
done

[ "$failed" -eq 0 ] && echo "every flag is as help tells it"
