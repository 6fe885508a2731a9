#!/usr/bin/env bash
# hccl_put.sh BUILD [SIZE...]: how fast a put over UCX is, between two hosts that are network namespaces joined by a veth pair, beside
# ucx_perftest (Debian: ucx-utils) between the same two with the same settings; then between two processes of one host beside a
# copy inside a device. Needs root for the namespaces.
set -u
build=${1:?usage: hccl_put.sh BUILD [SIZE...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/hccl_hosts/hosts.sh"
[ $# -gt 0 ] || set -- 65536 262144 1048576 4194304 16777216 67108864 268435456
folder=$(mktemp -d)
programs=$(mktemp -d)
"$root/bench/build_rank_program.sh" "$build" hccl_put "$programs" || exit 1
bench=$programs/hccl_put
# What src/hccl/link/ucx_settings.cpp sets by itself, so that both sides have it.
export ROPEWAY_HCCL_LINK=ucx UCX_TLS=tcp UCX_NET_DEVICES=eth0 UCX_TCP_TX_SEG_SIZE=64K UCX_TCP_RX_SEG_SIZE=64K UCX_WARN_UNUSED_ENV_VARS=n

# perftest SIZE: MB/s of ucp_put_bw. It counts in MiB.
perftest() {
  local iterations=$(((128 << 20) / $1))
  [ "$iterations" -ge 4 ] || iterations=4
  (exec ip netns exec "$hosts_prefix-1" timeout 60 ucx_perftest) >/dev/null 2>&1 </dev/null &
  local server=$!
  until rw_run 1 ss -ltn 2>/dev/null | grep -q ':13337 '; do sleep 0.05; done
  rw_run 0 timeout 60 ucx_perftest 10.99.0.2 -t ucp_put_bw -s "$1" -n "$iterations" -w 2 -f 2>/dev/null </dev/null |
    awk 'NF == 8 && $1 ~ /^[0-9]+$/ { rate = $6 * 1.048576 } END { printf "%.0f\n", rate }'
  kill "$server" 2>/dev/null
  wait "$server" 2>/dev/null
}

if hosts_up 2; then
  rw_run 1 "$bench" 1 2 "$folder" &
  rw_run 0 "$bench" 0 2 "$folder" "$@" >"$folder/rates"
  wait
  echo "two hosts, TCP over veth, MB/s"
  printf '%10s %10s %10s %8s\n' size put perftest ratio
  while read -r size put _; do
    peer=$(perftest "$size")
    awk -v s="$size" -v a="$put" -v b="$peer" 'BEGIN { printf "%10d %10d %10d %8.2f\n", s, a, b, (b > 0 ? a / b : 0) }'
  done <"$folder/rates"
else
  echo "no network namespaces for this user: the figures between hosts are left out" >&2
fi

unset UCX_NET_DEVICES
rm -f "$folder"/*
"$bench" 1 2 "$folder" &
"$bench" 0 2 "$folder" "$@" >"$folder/rates"
wait
echo "one host, two processes, MB/s"
printf '%10s %10s %10s %8s\n' size put copy ratio
awk '{ printf "%10d %10d %10d %8.2f\n", $1, $2, $3, $4 }' "$folder/rates"
rm -rf "$folder" "$programs"
