#!/usr/bin/env bash
# hixl.sh BUILD: transfers of engines, 4096 blocks of 16 KiB, scattered: between two processes beside the same copies inside one, and between two network
# namespaces beside puts and gets of as many bytes over the link of ranks. One table: rates in MB/s, the median of the ratios of rounds in
# turns, what is promised, and whether it holds. Fails where something does not. Needs root for the namespaces.
set -u
build=${1:?usage: hixl.sh BUILD}
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/hccl_hosts/hosts.sh"
programs=$(mktemp -d)
"$root/bench/build_rank_program.sh" "$build" hixl "$programs" -lcann_hixl -lmetadef || exit 1
hosts_up 2 || { echo "no network namespaces for this user" >&2; exit 1; }
export ROPEWAY_HIXL_SECRET=$$

# pair HOST0 HOST1 NAME WAY: what rank 0 says.
pair() {
  local folder
  folder=$(mktemp -d)
  rw_run "$2" "$programs/hixl" 1 2 "$folder" "$3" "$4" &
  rw_run "$1" "$programs/hixl" 0 2 "$folder" "$3" "$4"
  wait $!
  rm -rf "$folder"
}

{
  pair 0 0 10.99.0.1:16000 local | sed 's/^/processes /'
  pair 0 1 10.99.0.2:16000 link | sed 's/^/hosts /'
} | awk '
  BEGIN { printf "%-10s %-13s %9s %8s %8s %6s  %s\n", "between", "what", "bytes", "ours", "plain", "ratio", "promised" }
  { limit = $2 ~ /^(to|from)-host$/ ? 0 : $1 == "hosts" ? 0.8 : 0.9
    rows += limit > 0
    worse += $6 < limit
    printf "%-10s %-13s %9d %8d %8d %6.2f  %s\n", $1, $2, $3, $4, $5, $6, limit == 0 ? "-" : ">= " limit ($6 >= limit ? "  holds" : "  MISSED")
    fflush() }
  END { printf "%d of %d rows hold\n", rows - worse, rows; exit worse > 0 || rows == 0 }'
result=$?
rm -rf "$programs"
exit $result
