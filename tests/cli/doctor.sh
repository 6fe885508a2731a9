#!/bin/bash
# What `ropeway doctor` says about settings: it knows those that docs/config.md names, it calls a value ignored when the library cannot use
# it, it writes nothing, and it tells when devices have more memory than the machine. `ropeway exec` has a flag for each of ours.
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
doctor() { env "$@" "$ropeway" doctor >"$work/page" 2>"$work/log"; }

# --- Every setting: known to doctor, documented, and with a value that it calls ignored when the library says that it cannot be used ---
names='(ROPEWAY|ASCEND|HCCL|SOC)_[A-Z0-9_]+'
# The page's first part: behind the next heading stand variables that we set, not read.
sed '/^## What points/,$d' "$sources/docs/config.md" | grep -E '^\| `' | cut -d'|' -f2 | grep -oE "$names" | sort >"$work/documented"
doctor
grep -oE "^[a-z]+ +$names " "$work/page" | grep -oE "$names" | sort >"$work/known"
[ "$(wc -l <"$work/known")" -ge 20 ] || fail "doctor knows $(wc -l <"$work/known") settings only"
expect_same "documented (<) and known to doctor (>)" "$work/documented" "$work/known"

# expect good|bad VARIABLE=VALUE...: that doctor says so, and the library of its own settings.
expect() {
  local expected=$1 setting said
  shift
  doctor "$@"
  for setting; do
    said=good
    grep -E "^[a-z]+ +${setting%%=*} " "$work/page" | grep -q ', ignored)' && said=bad
    [ "$said" = "$expected" ] || fail "$setting is $said for doctor, not $expected"
    case $setting in HCCL_*|ROPEWAY_HCCL_*) continue ;; esac  # libhccl.so says those
    said=good
    grep -qF "ropeway: $setting cannot be used: " "$work/log" && said=bad
    [ "$said" = "$expected" ] || fail "$setting is $said for the library, not $expected"
  done
}
expect good ROPEWAY_ENGINE=cpu ROPEWAY_DEVICES=64 ROPEWAY_DEVICE_MEMORY=2MiB ROPEWAY_SOC=Ascend910B2 ROPEWAY_LANES=1 ROPEWAY_COPY_METHOD=libc ROPEWAY_CUDA_CTAS=1024 \
  ROPEWAY_HOST_ACCESS=on ROPEWAY_STRICT_ALIGNMENT=0 ROPEWAY_SCHEDULE=random:7 ROPEWAY_LOG_LEVEL=2 ROPEWAY_TRACE= ROPEWAY_FAULTS=aclrtSetDevice:507033 SOC_VERSION=910C \
  ASCEND_GLOBAL_LOG_LEVEL=4 ASCEND_SLOG_PRINT_TO_STDOUT=0 ROPEWAY_PYTHON_EXTENSIONS=0 HCCL_CONNECT_TIMEOUT=0.5 HCCL_EXEC_TIMEOUT=0 \
  HCCL_RDMA_TIMEOUT=24 HCCL_RDMA_RETRY_CNT=1 HCCL_INTRA_ROCE_ENABLE=1 ROPEWAY_HCCL_LINK_TIMEOUT=3600 HCCL_OP_EXPANSION_MODE=HOST_TS \
  HCCL_IF_IP=::1 HCCL_SOCKET_IFNAME=lo ROPEWAY_HCCL_TLS=1
expect bad ROPEWAY_ENGINE=CPU ROPEWAY_DEVICES=65 ROPEWAY_DEVICE_MEMORY=12 ROPEWAY_SOC= ROPEWAY_LANES=0 ROPEWAY_COPY_METHOD=fast ROPEWAY_CUDA_CTAS=1025 \
  ROPEWAY_HOST_ACCESS=ON ROPEWAY_STRICT_ALIGNMENT=2 ROPEWAY_SCHEDULE=LATEST ROPEWAY_LOG_LEVEL=5 ROPEWAY_FAULTS=aclrtSetDevice SOC_VERSION= \
  ASCEND_GLOBAL_LOG_LEVEL=-1 ASCEND_SLOG_PRINT_TO_STDOUT=maybe ROPEWAY_PYTHON_EXTENSIONS=no HCCL_CONNECT_TIMEOUT=0 HCCL_EXEC_TIMEOUT=long \
  HCCL_RDMA_TIMEOUT=25 HCCL_RDMA_RETRY_CNT=0 HCCL_INTRA_ROCE_ENABLE=yes ROPEWAY_HCCL_LINK_TIMEOUT=abc ROPEWAY_HCCL_TLS=yes

# --- Flags ---
"$ropeway" exec --help | grep -oE '^ +--[a-z-]+' | tr -d ' ' | sort >"$work/flags"
grep '^ROPEWAY_' "$work/known" | grep -v SECRET | sed 's/^ROPEWAY_/--/; s/_/-/g' | tr 'A-Z' 'a-z' | sort >"$work/wanted_flags"
expect_same "flags of exec (<) and settings (>)" "$work/flags" "$work/wanted_flags"
"$ropeway" exec --lanes 65 -- true 2>"$work/log" && fail "exec --lanes 65 is taken"
grep -q '^ropeway exec: --lanes: a number from 1 to 64 is wanted' "$work/log" || fail "exec --lanes 65: $(cat "$work/log")"
[ "$("$ropeway" exec --lanes 64 --host-access -- env | grep -cE '^ROPEWAY_(LANES=64|HOST_ACCESS=1)$')" = 2 ] || fail "exec sets no variables"

doctor ASCEND_RT_VISIBLE_DEVICES=0,1
grep -q '^problem .*devices' "$work/page" && fail "two visible devices are a problem"
doctor ASCEND_RT_VISIBLE_DEVICES=0,two,2 && fail "a list of devices that is ignored in part is no problem"
grep -q '^problem .*from number 2 .*ignored' "$work/page" || fail "the ignored part of a list of devices is not told"
doctor ROPEWAY_DEVICE=2 && fail "a typing error is no problem"
grep -q '^problem *ROPEWAY_DEVICE ' "$work/page" || fail "a typing error is not told"
doctor ROPEWAY_HCCL_SECRET=rosebud
grep -q '^ok *ROPEWAY_HCCL_SECRET ' "$work/page" || fail "a secret is a problem"
grep -q rosebud "$work/page" && fail "the secret is printed"

# --- A GPU that is not there: the page is complete, and says so ---
doctor ROPEWAY_ENGINE=auto
if grep -q '^ok *engine *cpu' "$work/page"; then
  doctor ROPEWAY_ENGINE=cuda && fail "no GPU for ROPEWAY_ENGINE=cuda is no problem"
  grep -q '^problem *engine *none: ROPEWAY_ENGINE=cuda, but ' "$work/page" || fail "a missing GPU is not told: $(grep engine "$work/page")"
  grep -q ' problems* found$' "$work/page" || fail "doctor does not get through without a GPU"
fi

# --- RDMA devices: made up, where this user may mount something over /sys/class ---
doctor
[ -d /sys/class/infiniband ] || grep -q '^ok *RDMA *no devices' "$work/page" || fail "RDMA devices that are not there: $(grep RDMA "$work/page")"
if unshare -m mount -t tmpfs none /sys/class 2>/dev/null; then
  with_rdma() { env "$@" unshare -m sh -c 'mount -t tmpfs none /sys/class && mkdir -p /sys/class/infiniband/mlx5_1 /sys/class/infiniband/mlx5_0 && exec "$0" doctor' "$ropeway" >"$work/page" 2>&1; }
  with_rdma ROPEWAY_HCCL_LINK=tcp
  grep -A1 '^note *RDMA *mlx5_0 mlx5_1' "$work/page" | grep -q 'ROPEWAY_HCCL_LINK=ucx' || fail "RDMA devices are not recommended: $(grep -A1 RDMA "$work/page")"
  with_rdma ROPEWAY_HCCL_LINK=ucx
  grep -q '^ok *RDMA *mlx5_0 mlx5_1' "$work/page" || fail "RDMA devices that are used: $(grep RDMA "$work/page")"
else
  echo "skipped: RDMA devices cannot be made up by this user"
fi

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
