#!/usr/bin/env bash
# hccl_link.sh BUILD [SIZE...]: puts, gets and sends between two hosts, which are network namespaces joined by a veth pair, beside a plain
# loop of send and recv in the same run; and round trips of 4 KiB. Needs root for the namespaces. Fails where a ratio is worse than what is
# promised: rates of at least RW_RATE (0.9) of the loop's, round trips of at most RW_TRIP (1.3) of its. With ROPEWAY_HCCL_TLS=1 both go
# through GnuTLS, and the rate is 0.8.
set -u
build=${1:?usage: hccl_link.sh BUILD [SIZE...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/hccl_hosts/hosts.sh"
[ $# -gt 0 ] || set -- 65536 262144 1048576 4194304 16777216 67108864 268435456 1073741824
folder=$(mktemp -d)
programs=$(mktemp -d)
"$root/bench/build_rank_program.sh" "$build" hccl_link "$programs" -lgnutls || exit 1
hosts_up 2 || { echo "no network namespaces for this user" >&2; exit 1; }
rw_run 1 "$programs/hccl_link" 1 2 "$folder" 10.99.0.2 "$@" &
printf '%-10s %12s %10s %10s %8s\n' what size ours plain ratio
rw_run 0 "$programs/hccl_link" 0 2 "$folder" 10.99.0.2 "$@" |
  awk -v rate="${RW_RATE:-$([ "${ROPEWAY_HCCL_TLS:-0}" = 1 ] && echo 0.8 || echo 0.9)}" -v trip="${RW_TRIP:-1.3}" '
    { bad = $1 ~ /trip|first/ ? $5 > ($1 ~ /first/ ? 1 : trip) : $5 < rate
      worse += bad
      printf "%-10s %12d %10.1f %10.1f %8.2f%s\n", $1, $2, $3, $4, $5, bad ? "  worse than promised" : "" }
    END { exit worse > 0 }'
result=$?
wait
rm -rf "$folder" "$programs"
exit $result
