#!/usr/bin/env bash
# hccl_link.sh BUILD [SIZE...]: the TCP link between two hosts, which are network namespaces joined by a veth pair, beside a plain loop of send and
# recv with as many connections and as many messages at once, in turns in one run; then the same encrypted, beside the same loop through GnuTLS.
# One table: rates in MB/s, round trips and the first transfer of a pair in microseconds, the median of the ratios, what is promised, and whether
# it holds. Fails where something does not. Needs root for the namespaces. RW_WAYS="clear tls" says which, RW_FIRST (9) how many pairs begin;
# RW_AHEAD=1 lets both ranks go before all other work of the machine (chrt), so that it counts for neither side.
set -u
build=${1:?usage: hccl_link.sh BUILD [SIZE...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/hccl_hosts/hosts.sh"
[ $# -gt 0 ] || set -- 65536 262144 1048576 4194304 16777216 67108864 268435456 1073741824
programs=$(mktemp -d)
"$root/bench/build_rank_program.sh" "$build" hccl_link "$programs" -lgnutls || exit 1
hosts_up 2 || { echo "no network namespaces for this user" >&2; exit 1; }

ahead=${RW_AHEAD:+chrt -f 20}

# pair SIZE...: what rank 0 says.
pair() {
  local folder
  folder=$(mktemp -d)
  rw_run 1 $ahead "$programs/hccl_link" 1 2 "$folder" 10.99.0.2 "$@" &
  rw_run 0 $ahead "$programs/hccl_link" 0 2 "$folder" 10.99.0.2 "$@"
  wait $!
  rm -rf "$folder"
}

# The median of pairs that do nothing else, against a limit of 5 ms.
first_transfer() {
  local i
  for ((i = 0; i < ${RW_FIRST:-9}; ++i)); do pair first; done | sort -n -k3 |
    awk '{ took[NR] = $3 } END { m = took[int((NR + 1) / 2)]; print "first", 4096, m, 5000, m / 5000 }'
}

for way in ${RW_WAYS:-clear tls}; do
  export ROPEWAY_HCCL_TLS=$([ "$way" = tls ] && echo 1 || echo 0)
  { first_transfer; pair "$@"; } | sed "s/^/$way /"
done | awk '
  BEGIN { printf "%-6s %-10s %11s %10s %10s %6s  %s\n", "way", "what", "bytes", "ours", "plain", "ratio", "promised" }
  { limit = $2 == "first" ? "<= 1.0" : $2 ~ /trip/ ? "<= 1.3" : $1 == "tls" ? ">= 0.8" : ">= 0.9"
    if ($1 == "tls" && $2 ~ /trip|first/) limit = "-"
    split(limit, is, " ")
    good = limit == "-" || (is[1] == "<=" ? $6 <= is[2] : $6 >= is[2])
    rows += limit != "-"
    worse += !good
    printf "%-6s %-10s %11d %10.1f %10.1f %6.2f  %s%s\n", $1, $2, $3, $4, $5, $6, limit, limit == "-" ? "" : good ? "  holds" : "  MISSED"
    fflush() }
  END { printf "%d of %d rows hold\n", rows - worse, rows; exit worse > 0 || rows == 0 }'
result=$?
rm -rf "$programs"
exit $result
