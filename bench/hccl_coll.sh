#!/usr/bin/env bash
# hccl_coll.sh BUILD [OPTION...]: `ropeway bench --hccl` of ranks on two hosts, which are network namespaces joined by a veth pair, beside Open MPI
# over TCP. RW_RANKS (2): how many ranks, half of them on each host. Options are the bench's: --quick, --filter. Needs root for the
# namespaces, and mpirun (Debian: openmpi-bin). On one host `ropeway bench --hccl` needs no script.
set -u
build=$(cd "${1:?usage: hccl_coll.sh BUILD [OPTION...]}" && pwd)
shift
. "$(dirname "$0")/../tests/hccl_hosts/hosts.sh"
command -v mpirun >/dev/null || { echo "no mpirun here (Debian: openmpi-bin)" >&2; exit 1; }
hosts_up 2 || { echo "no network namespaces for this user" >&2; exit 1; }
ranks=${RW_RANKS:-2}
folder=$(mktemp -d)

# What mpirun takes for ssh: the host's number is the end of its address. A name of its own keeps Open MPI from taking both for one host.
cat >"$folder/agent" <<AGENT
#!/usr/bin/env bash
host=\$((\${1##*.} - 1))
shift
exec ip netns exec $hosts_prefix-\$host unshare --uts sh -c "hostname host\$host; \$*"
AGENT
chmod +x "$folder/agent"

rw_run 0 unshare --uts sh -c 'hostname host0; exec "$@"' - env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  mpirun --quiet --mca plm_rsh_agent "$folder/agent" --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
  --oversubscribe --bind-to none --map-by ppr:$((ranks / 2)):node --host "10.99.0.1:$((ranks / 2)),10.99.0.2:$((ranks / 2))" -n "$ranks" \
  "$build/ropeway" bench --hccl "$@"
result=$?
rm -rf "$folder"
exit $result
