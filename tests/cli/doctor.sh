#!/bin/bash
# What `ropeway doctor` says about settings: it knows those that docs/config.md names and the sources read, it calls a value ignored when
# the library ignores it, it writes nothing, and it tells when devices have more memory than the machine.
# Usage: doctor.sh ROPEWAY SOURCE_DIR
set -u

ropeway=${1:?usage: doctor.sh ROPEWAY SOURCE_DIR}
sources=${2:?usage: doctor.sh ROPEWAY SOURCE_DIR}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
for name in $(compgen -e | grep -E '^(ROPEWAY|ASCEND|HCCL|SOC)_'); do unset "$name"; done
export ROPEWAY_ENGINE=cpu

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

# expect_same WHAT FILE FILE: two sorted lists.
expect_same() {
  local difference
  difference=$(diff "$2" "$3") || fail "$1:" "$difference"
}

# doctor [VARIABLE=VALUE...]: what it says goes to $work/page, what the library says to $work/log.
doctor() { env ASCEND_GLOBAL_LOG_LEVEL=2 "$@" "$ropeway" doctor >"$work/page" 2>"$work/log"; }

# --- The names ---
names='(ROPEWAY|ASCEND|HCCL|SOC)_[A-Z0-9_]+'
# The page's first part: behind the next heading stand variables that we set, not read.
sed '/^## /,$d' "$sources/docs/config.md" | grep -E '^\| `' | cut -d'|' -f2 | grep -oE "$names" | sort -u >"$work/documented"
grep -rhoE "(getenv|lookup|Read|Seconds|Number)\\(\"$names\"" "$sources/src" "$sources/python/src" | grep -oE "$names" | sort -u >"$work/read"
doctor
grep -oE "^[a-z]+ +$names " "$work/page" | grep -oE "$names" | sort >"$work/known"
[ "$(wc -l <"$work/read")" -ge 20 ] || fail "the sources read $(wc -l <"$work/read") settings only: is this the right folder?"
expect_same "read by the sources (<) and documented (>)" "$work/read" "$work/documented"
expect_same "documented (<) and known to doctor (>)" "$work/documented" "$work/known"

# --- Values that are ignored: by the library, and by what doctor says ---
# expect_ignored good|bad|asked VARIABLE=VALUE...: asked is answered by the library's own words.
expect_ignored() {
  local expected=$1 setting said
  shift
  doctor "$@"
  for setting; do
    said=good
    grep -E "^[a-z]+ +${setting%%=*} " "$work/page" | grep -q ', ignored)' && said=bad
    if [ "$expected" = asked ]; then
      grep -qF "$setting is ignored" "$work/log" && [ "$said" = good ] && fail "$setting: ignored by the library, not by doctor"
      grep -qF "$setting is ignored" "$work/log" || [ "$said" = good ] || fail "$setting: ignored by doctor, not by the library"
    elif [ "$said" != "$expected" ]; then
      fail "$setting is $said for doctor, not $expected"
    fi
  done
}
good=(ROPEWAY_ENGINE=cpu ROPEWAY_DEVICES=2 ROPEWAY_DEVICE_MEMORY=2MiB ROPEWAY_SOC=Ascend910B2 ROPEWAY_LANES=3 ROPEWAY_CUDA_CTAS=8
      ROPEWAY_HOST_ACCESS=on ROPEWAY_STRICT_ALIGNMENT=0 ROPEWAY_SCHEDULE=random:7 ROPEWAY_LOG_LEVEL=2 ROPEWAY_TRACE=
      SOC_VERSION=910C ASCEND_SLOG_PRINT_TO_STDOUT=0)
bad=(ROPEWAY_ENGINE=CPU ROPEWAY_DEVICES=65 ROPEWAY_DEVICE_MEMORY=12 ROPEWAY_SOC= ROPEWAY_LANES=0 ROPEWAY_CUDA_CTAS=2000
     ROPEWAY_HOST_ACCESS=ON ROPEWAY_STRICT_ALIGNMENT=2 ROPEWAY_SCHEDULE=LATEST ROPEWAY_LOG_LEVEL=5 SOC_VERSION=
     ASCEND_SLOG_PRINT_TO_STDOUT=maybe)
for kind in good asked; do expect_ignored $kind "${good[@]}"; done
for kind in bad asked; do expect_ignored $kind "${bad[@]}"; done
expect_ignored bad ASCEND_GLOBAL_LOG_LEVEL=9 ROPEWAY_LOG_LEVEL=-1
for size in 2M 2097151 1T 1025GiB 1GB 16777217T; do expect_ignored asked ROPEWAY_DEVICE_MEMORY=$size; done
for schedule in random: random:x fast,latest ''; do expect_ignored asked "ROPEWAY_SCHEDULE=$schedule"; done
# These are read by others than the library, and by their own rules.
expect_ignored good HCCL_CONNECT_TIMEOUT=0.5 HCCL_EXEC_TIMEOUT=0 HCCL_RDMA_TIMEOUT=24 HCCL_RDMA_RETRY_CNT=1 HCCL_INTRA_ROCE_ENABLE=1 \
  ROPEWAY_HCCL_LINK_TIMEOUT=3600 ROPEWAY_PYTHON_EXTENSIONS=0 HCCL_OP_EXPANSION_MODE=HOST_TS HCCL_IF_IP=::1 HCCL_SOCKET_IFNAME=lo
expect_ignored bad HCCL_CONNECT_TIMEOUT=0 HCCL_EXEC_TIMEOUT=long HCCL_RDMA_TIMEOUT=25 HCCL_RDMA_RETRY_CNT=0 HCCL_INTRA_ROCE_ENABLE=yes \
  ROPEWAY_HCCL_LINK_TIMEOUT=0 ROPEWAY_PYTHON_EXTENSIONS=no

doctor ASCEND_RT_VISIBLE_DEVICES=0,1
grep -q '^problem .*devices' "$work/page" && fail "two visible devices are a problem"
doctor ASCEND_RT_VISIBLE_DEVICES=0,two,2 && fail "a list of devices that is ignored in part is no problem"
grep -q '^problem .*from number 2 .*ignored' "$work/page" || fail "the ignored part of a list of devices is not told"
doctor ROPEWAY_DEVICE=2 && fail "a typing error is no problem"
grep -q '^problem *ROPEWAY_DEVICE ' "$work/page" || fail "a typing error is not told"
doctor ROPEWAY_HCCL_SECRET=rosebud
grep -q '^ok *ROPEWAY_HCCL_SECRET ' "$work/page" || fail "a secret is a problem"
grep -q rosebud "$work/page" && fail "the secret is printed"

# --- It only looks ---
echo "the trace of yesterday" >"$work/trace"
doctor ROPEWAY_TRACE="$work/trace"
grep -qF "$work/trace" "$work/page" || fail "the trace file is not told"
[ "$(cat "$work/trace")" = "the trace of yesterday" ] || fail "the trace of the user is overwritten"
doctor ROPEWAY_TRACE="$work/new"
[ ! -e "$work/new" ] || fail "a trace is written"

# --- Memory ---
doctor ROPEWAY_DEVICES=32 ROPEWAY_DEVICE_MEMORY=1TiB
grep -q '^note .*32 TiB in all, more than' "$work/page" || fail "32 TiB of device memory are fine"
doctor ROPEWAY_DEVICES=2 ROPEWAY_DEVICE_MEMORY=2MiB
grep -q '^ok .*4 MiB in all' "$work/page" || fail "4 MiB of device memory are too many"

[ "$failed" -eq 0 ] && echo "doctor knows $(wc -l <"$work/known") settings"
