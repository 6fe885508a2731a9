#!/usr/bin/env bash
# run_all.sh BINDIR [CASE...]: ranks on different hosts, which are network namespaces joined by veth pairs. Those cases that move bytes run
# over every link of RW_LINKS; RW_LONG=1: with 300 ms and 64 ranks where else 20 ms and 16 ranks have to do. Exits 77, loudly, when this user may not make namespaces.
set -u
bindir=${1:?usage: run_all.sh BINDIR}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/hosts.sh"
export HCCL_CONNECT_TIMEOUT=120
seed=${RW_STORM_SEED:-20261115}
failed=0
folder=

# begin NAME: a folder of its own for each case.
begin() {
  [ -z "$folder" ] || rm -rf "$folder"
  folder=$(mktemp -d)
  name="$1 ($ROPEWAY_HCCL_LINK)"
}

finish() {
  if [ "$1" -eq 0 ]; then echo "good    $name"; else
    failed=$((failed + 1))
    echo "FAILED  $name"
    sed 's/^/        /' "$folder"/*.log
  fi
}

# start HOST RANK PROGRAM ARGUMENT...: in the background, its output in the folder.
pids=()
start() {
  local host=$1 rank=$2 program=$3
  shift 3
  # exec: the number is the rank's own, not a shell's.
  (exec ip netns exec "$hosts_prefix-$host" "$bindir/$program" "$rank" "$@") >"$folder/rank$rank.log" 2>&1 &
  pids[rank]=$!
}

# The same for ranks that may leave something behind: /dev/shm and the folder for files are their own.
start_watched() {
  local host=$1 rank=$2 program=$3
  shift 3
  (exec ip netns exec "$hosts_prefix-$host" env TMPDIR="$folder/left" bash -c 'mount --bind "$0/left" /dev/shm && exec "$@"' "$folder" \
    "$bindir/$program" "$rank" "$@") >"$folder/rank$rank.log" 2>&1 &
  pids[rank]=$!
}

# nothing_left HOSTS: no process, no socket (but what the kernel keeps of connections that are over), no file and no shared memory.
nothing_left() {
  local host left
  for ((host = 0; host < $1; ++host)); do
    left="$(ip netns pids "$hosts_prefix-$host")$(rw_run $host ss -Hxa)$(rw_run $host ss -Htua state established state listening state unconnected)"
    [ -z "$left" ] || { echo "left on host $host: $left" >>"$folder/rank0.log"; return 1; }
  done
  left=$(ls -A "$folder/left")
  [ -z "$left" ] || { echo "left in files or shared memory: $left" >>"$folder/rank0.log"; return 1; }
}

# The most of what ranks say of how long they did not know.
known_after() { sed -n 's/^known after \(.*\) ms$/\1/p' "$folder"/rank*.log | sort -n | tail -1; }

# wait_all STATUS...: every rank's expected status.
wait_all() {
  local rank=0 bad=0 status
  for expected in "$@"; do
    wait "${pids[rank]}" 2>/dev/null
    status=$?
    [ "$status" -eq "$expected" ] || { echo "rank $rank ended with $status" >>"$folder/rank$rank.log"; bad=1; }
    rank=$((rank + 1))
  done
  return $bad
}

await() {
  until [ -e "$folder/$1" ]; do
    kill -0 "${pids[0]}" 2>/dev/null || return 1
    sleep 0.01
  done
}

storm() {
  local rank
  begin "storm of four hosts, seed $seed"
  for rank in 0 1 2 3; do start $rank $rank storm 4 "$folder" "$seed"; done
  wait_all 0 0 0 0
  finish $?
}

# Two ranks a host: the short way inside, the network between.
mixed_storm() {
  local rank
  begin "storm of two hosts with two ranks each, seed $seed"
  for rank in 0 1 2 3; do start $((rank / 2)) $rank storm 4 "$folder" "$seed"; done
  wait_all 0 0 0 0
  finish $?
}

send_storm() {
  local rank
  begin "storm of sends between four hosts, seed $seed"
  for rank in 0 1 2 3; do start $rank $rank send_storm 4 "$folder" "$seed"; done
  wait_all 0 0 0 0
  finish $?
}

mixed_send_storm() {
  local rank
  begin "storm of sends between two hosts with two ranks each, seed $seed"
  for rank in 0 1 2 3; do start $((rank / 2)) $rank send_storm 4 "$folder" "$seed"; done
  wait_all 0 0 0 0
  finish $?
}

# One rank on each of three hosts; two on each of three; and a host that has more than the others.
collectives() {
  local rank hosts text
  for hosts in "0 1 2" "0 0 1 1 2 2" "0 0 0 1 2"; do
    begin "storm of collectives, ranks on hosts $hosts, seed $seed"
    rank=0
    local zeros=() ranks=($hosts)
    for text in $hosts; do
      start "$text" $rank collective_storm ${#ranks[@]} "$folder" "$seed" $([ "${RW_LONG:-0}" = 0 ] || echo 2000)
      rank=$((rank + 1))
      zeros+=(0)
    done
    wait_all "${zeros[@]}"
    finish $?
  done
}

# The same on other schedules; all on one host, and on three.
scheduled_collectives() {
  local rank hosts text schedule
  for schedule in latest random:1 random:2 random:3; do
    for hosts in "0 0 0 0" "0 0 1 2"; do
      [ "${RW_LONG:-0}" != 0 ] || [ "$schedule" = latest ] || [ "$hosts" != "0 0 0 0" ] || continue
      begin "storm of collectives on schedule $schedule, ranks on hosts $hosts, seed $seed"
      rank=0
      for text in $hosts; do
        ROPEWAY_SCHEDULE=$schedule start "$text" $rank collective_storm 4 "$folder" "$seed" $([ "${RW_LONG:-0}" = 0 ] && echo 20 || echo 1000)
        rank=$((rank + 1))
      done
      wait_all 0 0 0 0
      finish $?
    done
  done
}

# A host that is not of the communicator and a process on the host of a rank knock at every open port, all the time. Not with UCX, whose
# port believes whoever connects.
strangers() {
  local rank
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  begin "storm with strangers at every port, seed $seed"
  for rank in 0 1; do start $rank $rank storm 2 "$folder" "$seed"; done
  python3 "$here/strangers.py" "$hosts_prefix" "$folder" >"$folder/strangers.log" 2>&1 &
  local knocking=$!
  wait_all 0 0
  local result=$?
  touch "$folder/stop"
  wait $knocking || result=1
  finish $result
}

# cut_link WHAT TIMEOUT ERRORS: the link's own limit is 4.096 us * 2^TIMEOUT * 2; control connections have three seconds. Who moves the
# bytes sees one of ERRORS, who waits for them always HCCL_E_TCP_TRANSFER (13).
cut_link() {
  begin "link cut in the middle of a $1, error $3"
  export HCCL_RDMA_TIMEOUT=$2 HCCL_RDMA_RETRY_CNT=1 ROPEWAY_HCCL_LINK_TIMEOUT=3
  start 0 0 broken_link 2 "$folder" "$1" "$3"
  start 1 1 broken_link 2 "$folder" "$1" 13
  await moving && rw_cut 1
  wait_all 0 0
  finish $?
  rw_mend 1
  unset HCCL_RDMA_TIMEOUT HCCL_RDMA_RETRY_CNT ROPEWAY_HCCL_LINK_TIMEOUT
}
# A second, and half a minute. A send may be between two messages.
cut_put() { cut_link put 17 14; }
cut_send() { cut_link send 17 13,14; }
cut_put_early() { cut_link put 22 13; }

kill_rank() {
  begin "rank killed in the middle of a $1"
  start 0 0 broken_link 2 "$folder" "$1"
  start 1 1 broken_link 2 "$folder" "$1"
  await moving && kill -9 "${pids[1]}"
  wait_all 0 137
  finish $?
}
kill_put() { kill_rank put; }
kill_send() { kill_rank send; }

# The host of rank 1 is gone, with rank 1: no packet says so, so that the other ends of its connections stay open. Rank 0 has nothing to send
# that could fail; what finds out is the bound on silence.
half_open() {
  begin "host that vanishes while a rank waits for it"
  export ROPEWAY_HCCL_LINK_TIMEOUT=3
  start 0 0 broken_link 2 "$folder" wait 13
  start 1 1 broken_link 2 "$folder" wait
  await moving && rw_vanish 1 && kill -9 "${pids[1]}"
  wait_all 0 137
  finish $?
  rw_return 1
  unset ROPEWAY_HCCL_LINK_TIMEOUT
}

# The second number of UCX's version; 0 when it is not there.
ucx_minor() {
  python3 -c 'import ctypes
v = [ctypes.c_uint() for i in range(3)]
ctypes.CDLL("libucp.so.0").ucp_get_version(*map(ctypes.byref, v))
print(v[1].value)' 2>/dev/null || echo 0
}

# Rank 1 dies at a random moment of connecting or moving; RW_KILLS rounds. Ranks 2 and 3 of the same communicator go on. UCX before 1.18 may end
# rank 0 then (docs/one_sided.md).
kill_anywhere() {
  local round bad=0 aborts=0 latest=0 may_abort=0 known rank
  local milliseconds=30  # in which everything happens
  [ "$ROPEWAY_HCCL_LINK" = ucx ] && milliseconds=90 && [ "$(ucx_minor)" -lt 18 ] && may_abort=1
  begin "rank killed at ${RW_KILLS:-6} random moments, seed $seed"
  RANDOM=$seed
  for ((round = 0; round < ${RW_KILLS:-6} && bad == 0; ++round)); do
    rm -rf "$folder"/*
    mkdir "$folder/left"
    local moment=$((RANDOM % milliseconds * 1000 + RANDOM % 1000))
    for rank in 0 1 2 3; do start_watched $rank $rank killed_rank 4 "$folder" $moment; done
    wait_all 0 137 || bad=1
    touch "$folder/over"
    wait_all $([ $bad = 0 ] && echo 0 137 || echo 1 137) 0 0 || bad=1
    nothing_left 4 || bad=1
    [ $bad = 0 ] || echo "round $round, after $moment us" >>"$folder/rank0.log"
    known=$(known_after)
    [ "${known:-0}" -le $latest ] || latest=$known
    if [ $bad$may_abort = 11 ] && grep -qE "ucp_request.inl.* Fatal: unexpected error|uct_tcp_ep_pending_purge" "$folder/rank0.log"; then
      bad=0
      aborts=$((aborts + 1))
    fi
  done
  name="$name: $aborts ended by UCX, known after $latest ms at the latest"
  finish $bad
}

# One of four ranks dies at a random moment of their collectives, on one host and on two; RW_KILLS rounds each.
kill_collectives() {
  local round bad rank hosts placed latest known
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  for hosts in "0 0 0 0" "0 0 1 1"; do
    begin "rank killed at ${RW_KILLS:-4} random moments of collectives, ranks on hosts $hosts, seed $seed"
    RANDOM=$seed
    bad=0
    latest=0
    placed=($hosts)
    for ((round = 0; round < ${RW_KILLS:-4} && bad == 0; ++round)); do
      rm -rf "$folder"/*
      mkdir "$folder/left"
      local moment=$((RANDOM % 60 * 1000 + RANDOM % 1000)) victim=$((RANDOM % 4)) expected=(0 0 0 0)
      expected[victim]=137
      for rank in 0 1 2 3; do start_watched "${placed[rank]}" $rank killed_in_collective 4 "$folder" $victim $moment; done
      wait_all "${expected[@]}" || { bad=1; echo "round $round, rank $victim after $moment us" >>"$folder/rank0.log"; }
      nothing_left 2 || bad=1
      known=$(known_after)
      [ "${known:-0}" -le "$latest" ] || latest=$known
    done
    name="$name, known after $latest ms at the latest"
    finish $bad
  done
}

# One of two transfer engines dies at a random moment: the one that connects, or the other one; RW_KILLS rounds. Two others go on.
kill_engines() {
  local round bad=0 latest=0 known rank
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  begin "transfer engine killed at ${RW_KILLS:-6} random moments, seed $seed"
  RANDOM=$seed
  for ((round = 0; round < ${RW_KILLS:-6} && bad == 0; ++round)); do
    rm -rf "$folder"/*
    mkdir "$folder/left"
    local moment=$((RANDOM % 30 * 1000 + RANDOM % 1000)) victim=$((RANDOM % 2)) ends=(0 0)
    ends[victim]=137
    for rank in 0 1 2 3; do ROPEWAY_HIXL_SECRET=$seed start_watched $rank $rank killed_engine 4 "$folder" $victim $moment; done
    wait_all "${ends[@]}" || bad=1
    touch "$folder/over"
    wait "${pids[2]}" && wait "${pids[3]}" || bad=1
    nothing_left 4 || bad=1
    [ $bad = 0 ] || echo "round $round, $victim after $moment us" >>"$folder/rank0.log"
    known=$(known_after)
    [ "${known:-0}" -le $latest ] || latest=$known
  done
  name="$name, known after $latest ms at the latest"
  finish $bad
}

encrypted_storm() {
  local rank
  [ "$ROPEWAY_HCCL_LINK" = tcp ] && [ -e "$bindir/../libropeway_tls.so" ] || return 0
  begin "encrypted storm of two hosts, seed $seed"
  for rank in 0 1; do ROPEWAY_HCCL_TLS=1 start $rank $rank storm 2 "$folder" "$seed"; done
  wait_all 0 0
  finish $?
}

# over_relay MILLISECONDS PERCENT OPERATIONS [nat]: a storm of hosts 0 and 1 over a path that delays, loses or translates.
over_relay() {
  local operations=$3 rank result
  [ -c /dev/net/tun ] || { echo "skipped $name: no /dev/net/tun"; return 0; }
  python3 "$here/packet_relay.py" "$hosts_prefix" "$folder/relay" "$1" "$2" "$seed" "${@:4}" >"$folder/relay.log" 2>&1 &
  local relay=$!
  until [ -e "$folder/relay" ]; do kill -0 $relay 2>/dev/null || break; sleep 0.01; done
  for rank in 0 1; do HCCL_IF_IP=10.98.0.$((rank + 1)) start $rank $rank storm 2 "$folder" "$seed" "$operations"; done
  wait_all 0 0
  result=$?
  rm -f "$folder/relay"
  wait $relay || result=1
  finish $result
}
lossy_path() {
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  local delay=10
  [ "${RW_LONG:-0}" = 0 ] || delay=150
  begin "storm over a path of $((2 * delay)) ms that loses 5 % of the packets"
  over_relay $delay 5 16
}
translated_path() {
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  begin "storm with a host behind address translation, which nobody can call"
  over_relay 0 0 200 nat
}

# A second network between hosts 0 and 1 is the one that the user names, and the first one is cut.
two_interfaces() {
  local rank
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  begin "storm over the second of two interfaces, the first one cut"
  ip link add eth1 netns "$hosts_prefix-0" type veth peer name eth1 netns "$hosts_prefix-1"
  for rank in 0 1; do
    ip -n "$hosts_prefix-$rank" addr add "10.97.0.$((rank + 1))/24" dev eth1
    ip -n "$hosts_prefix-$rank" link set eth1 up
    rw_cut $rank
  done
  for rank in 0 1; do HCCL_SOCKET_IFNAME==eth1 start $rank $rank storm 2 "$folder" "$seed" 1000; done
  wait_all 0 0
  local result=$?
  for rank in 0 1; do rw_mend $rank; done
  ip -n "$hosts_prefix-0" link del eth1
  finish $result
}

# Several ranks on each of eight hosts.
many_ranks() {
  local rank ranks=16 zeros=()
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  [ "${RW_LONG:-0}" = 0 ] || ranks=64
  begin "storm of $ranks ranks on eight hosts"
  for ((rank = 0; rank < ranks; ++rank)); do
    start $((rank % 8)) $rank storm $ranks "$folder" "$seed" $((ranks * 40))
    zeros+=(0)
  done
  wait_all "${zeros[@]}"
  finish $?
}

# Hosts 0 and 1 have addresses of IPv6 only.
ipv6_only() {
  local rank host
  [ "$ROPEWAY_HCCL_LINK" = tcp ] || return 0
  begin "storm over IPv6 only, seed $seed"
  for host in 0 1; do
    rw_run $host sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
    ip -n "$hosts_prefix-$host" addr del "10.99.0.$((host + 1))/24" dev eth0
    ip -n "$hosts_prefix-$host" addr add "fd99::$((host + 1))/64" dev eth0 nodad
  done
  for rank in 0 1; do start $rank $rank storm 2 "$folder" "$seed"; done
  wait_all 0 0
  local result=$?
  for host in 0 1; do
    ip -n "$hosts_prefix-$host" addr del "fd99::$((host + 1))/64" dev eth0
    rw_run $host sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
    ip -n "$hosts_prefix-$host" addr add "10.99.0.$((host + 1))/24" dev eth0
  done
  finish $result
}

# no_link TEXT: rank 0 has the setting of this run, and rank 1 is given what follows.
no_link() {
  local text=$1
  begin "no link in common: $text"
  start 0 0 no_link 2 "$folder" "$text"
  (
    export "${@:2}"
    exec ip netns exec "$hosts_prefix-1" "$bindir/no_link" 1 2 "$folder" "$text"
  ) >"$folder/rank1.log" 2>&1 &
  pids[1]=$!
  wait_all 0 0
  finish $?
}
different_links() {
  [ "$ROPEWAY_HCCL_LINK" = ucx ] || return 0
  no_link "ROPEWAY_HCCL_LINK" ROPEWAY_HCCL_LINK=tcp
}
one_has_no_ucx() {
  [ "$ROPEWAY_HCCL_LINK" = ucx ] || return 0
  no_link "ucp_" UCX_TLS=none
}

if ! hosts_up 8; then
  echo "SKIPPED: this user may not make network namespaces (needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN):" >&2
  echo "SKIPPED: nothing between hosts was tested" >&2
  exit 77
fi
all=(storm mixed_storm send_storm mixed_send_storm collectives scheduled_collectives strangers cut_put cut_send cut_put_early kill_put kill_send half_open kill_anywhere kill_collectives kill_engines encrypted_storm lossy_path translated_path two_interfaces many_ranks ipv6_only different_links one_has_no_ucx)
# What is the same code on both links is tried over one, unless there is time.
over_ucx=(storm send_storm collectives cut_put kill_put half_open kill_anywhere different_links one_has_no_ucx)
shift
for link in ${RW_LINKS:-tcp ucx}; do
  export ROPEWAY_HCCL_LINK=$link
  cases=("${all[@]}")
  [ $link != ucx ] || [ "${RW_LONG:-0}" != 0 ] || cases=("${over_ucx[@]}")
  [ $# = 0 ] || cases=("$@")
  for case in "${cases[@]}"; do $case; done
done
[ -z "$folder" ] || rm -rf "$folder"
[ "$failed" -eq 0 ]
