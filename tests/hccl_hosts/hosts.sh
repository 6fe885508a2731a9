# Sourced: hosts that are network namespaces of this machine, on one switch that is a namespace, too, so that nothing of the
# machine's own network is touched. `hosts_up N` makes them, the end of the script removes them.
#
# rw_run HOST COMMAND...   runs a command on a host       rw_cut HOST / rw_mend HOST   takes its cable out, puts it back
# rw_vanish HOST / rw_return HOST   the switch drops all packets from and to it, and nobody can tell that from silence
hosts_prefix=rw$$
hosts_count=0

hosts_down() {
  local i
  for ((i = 0; i < hosts_count; ++i)); do ip netns del "$hosts_prefix-$i" 2>/dev/null; done
  ip netns del "$hosts_prefix-sw" 2>/dev/null
  hosts_count=0
}

# 1 when this user may not make namespaces.
hosts_up() {
  local i n=$1 switch=$hosts_prefix-sw
  ip netns add "$switch" 2>/dev/null || return 1
  trap hosts_down EXIT
  ip -n "$switch" link add name sw type bridge && ip -n "$switch" link set sw up || return 1
  for ((i = 0; i < n; ++i)); do
    ip netns add "$hosts_prefix-$i" || return 1
    hosts_count=$((i + 1))
    ip link add eth0 netns "$hosts_prefix-$i" type veth peer name "port$i" netns "$switch" || return 1
    ip -n "$switch" link set "port$i" master sw up
    # Without duplicate address detection, which would keep the address unusable for a second.
    ip netns exec "$hosts_prefix-$i" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1 2>/dev/null
    # Linux's own choice, or what every user may choose, whatever this machine has: BBR, for one, paces what it sends by how fast small
    # messages have gone.
    ip netns exec "$hosts_prefix-$i" sh -c 'for way in cubic reno; do sysctl -qw net.ipv4.tcp_congestion_control=$way 2>/dev/null && break; done'
    ip -n "$hosts_prefix-$i" addr add "10.99.0.$((i + 1))/24" dev eth0
    ip -n "$hosts_prefix-$i" link set lo up
    ip -n "$hosts_prefix-$i" link set eth0 up
  done
}

rw_run() {
  local host=$1
  shift
  ip netns exec "$hosts_prefix-$host" "$@"
}

rw_cut() { ip -n "$hosts_prefix-sw" link set "port$1" down; }
rw_mend() { ip -n "$hosts_prefix-sw" link set "port$1" up; }
rw_vanish() { ip -n "$hosts_prefix-sw" link set "port$1" nomaster; }
rw_return() { ip -n "$hosts_prefix-sw" link set "port$1" master sw; }
