#!/bin/bash
# What `ropeway trace` makes of a program: a file, one of several processes, and exports that other viewers can read.
# Usage: trace.sh ROPEWAY EXAMPLES-FOLDER TESTS-FOLDER
set -u

ropeway=${1:?usage: trace.sh ROPEWAY EXAMPLES TESTS}
examples=${2:?} tests=${3:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export ROPEWAY_ENGINE=cpu
failed=0

fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}
# says STATUS TEXT ARGUMENTS...: the status, and that all of what is said, on either channel, contains the text.
says() {
  local status=$1 text=$2 said
  shift 2
  said=$("$ropeway" trace "$@" 2>&1 </dev/null)
  [ $? = "$status" ] || fail "ropeway trace $*: status is not $status: $said"
  case $said in *"$text"*) ;; *) fail "ropeway trace $*: '$text' is not in: $said" ;; esac
}

program=$examples/two_streams most=$((16 << 20))  # bytes that it copies: up to 1 GiB otherwise
cd "$work" || exit 2
says 0 "one.rwt has" -o one.rwt -- "$program" $most
says 0 "of 2 processes" -o two.rwt -- sh -c '"$0" $1; "$0" $1' "$program" $most
[ -z "$(ls | grep parts)" ] || fail "parts are left: $(ls)"
says 1 "nothing was recorded" -o none.rwt -- true
says 7 "of 1 process" -o failed.rwt -- sh -c '"$0" $1; exit 7' "$program" $most
says 127 "cannot run no-such-program" -- no-such-program
says 2 "PROGRAM is required"
# Eight ranks of one communicator are one timeline, and each is told by its number.
says 0 "of 8 processes" -o ranks.rwt -- "$examples/ring_exchange" 8
says 0 "" export ranks.rwt -o ranks.json
ranks=$(grep -o '"process_name","args":{"name":"rank [0-9]*' ranks.json | grep -o '[0-9]*$' | sort -n | tr '\n' ' ')
[ "$ranks" = "0 1 2 3 4 5 6 7 " ] || fail "ranks of one job: $ranks"
# What goes between ranks says so, and whose call it is.
python3 "$tests/cli/read_ranks.py" ranks.json 8 || fail "work between ranks"
"$ropeway" report ranks.rwt -o ranks.html --limit 10 >ranks.txt || fail "a report of ranks"
grep -q '^8 host threads waiting' ranks.txt || fail "the report of ranks: $(cat ranks.txt)"
for rank in 0 7; do grep -q "\"rank\":$rank" ranks.html || fail "rank $rank is not on the page"; done
# Of two, the other one is named; and the link is the one that was used.
says 0 "of 2 processes" -o pair.rwt -- "$examples/ring_exchange" 2
says 0 "" export pair.rwt -o pair.json
for rank in 0 1; do grep -q "\"link\":\"shared memory\",\"rank\":$rank" pair.json || fail "the link to rank $rank"; done
says 0 "of 2 processes" -o net.rwt -- env HCCL_INTRA_ROCE_ENABLE=1 "$examples/ring_exchange" 2
says 0 "" export net.rwt -o net.json
for rank in 0 1; do grep -q "\"link\":\"tcp\",\"rank\":$rank" net.json || fail "the link over the network to rank $rank"; done
# What one process waits for and another does is an arrow: exchanges of ranks, and notifies that processes share.
python3 "$tests/cli/read_crossings.py" pair.json 2 HcclBatchSendRecv HcclBatchSendRecv || fail "arrows between ranks"
says 0 "of 2 processes" -o ring.rwt -- "$examples/ipc_ring"
says 0 "" export ring.rwt -o ring.json
python3 "$tests/cli/read_crossings.py" ring.json 2 aclrtRecordNotify aclrtWaitAndResetNotify || fail "arrows between processes"
# A copy of a dispatcher has the peer and the link that its call named; one without has none.
says 0 "of 1 process" -o dispatcher.rwt -- "$examples/hccl_memcpy"
says 0 "" export dispatcher.rwt -o dispatcher.json
[ "$(grep -o '"call":"HcclMemcpyAsync".*"link":"HCCS","rank":1' dispatcher.json | wc -l)" = 1 ] || fail "the link of a dispatcher's copy"
[ "$(grep -c '"call":"HcclMemcpyAsync"' dispatcher.json)" = 2 ] || fail "copies of a dispatcher"
mkdir named && (cd named && ROPEWAY_TRACE=%r.rwt "$examples/ring_exchange" 4 >/dev/null) || fail "named by rank"
[ "$(ls named | tr '\n' ' ')" = "0.rwt 1.rwt 2.rwt 3.rwt " ] || fail "names by rank: $(ls named)"
says 0 "" merge named/*.rwt -o four_ranks.rwt

says 0 "" merge one.rwt two.rwt -o three.rwt
says 1 "this is no trace" merge "$program" -o four.rwt
[ -e four.rwt ] && fail "a merge that failed left a file"
says 1 ".json or .pftrace" export three.rwt -o out.txt
says 0 "" export three.rwt -o out.json
says 0 "" export three.rwt -o out.pftrace
python3 "$tests/cli/read_exports.py" out.json out.pftrace 3 || fail "the exports"

[ "$failed" = 0 ] || exit 1
