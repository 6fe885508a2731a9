#!/usr/bin/env bash
# debian13.sh [FOLDER [CTEST ARGUMENT...]]: builds the tree on Debian 13 (GCC 14, UCX 1.18) and runs the HCCL suites there: a chroot in FOLDER
# (build/debian13), which is made on the first run and kept, with a build folder of its own. Needs root, mmdebstrap and a Debian mirror
# (DEBIAN_MIRROR). A test of choice: `tools/debian13.sh build/debian13 -R hccl_fast`. JOBS are those of the compiler; what the suites know of RW_* goes
# along.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$source_dir/build/debian13}")
shift || true
[ "$#" -gt 0 ] || set -- -R '^hccl_'
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# What tools/packages.sh does not bring, because it is for people who have a system already.
more=iproute2,mount,libgtest-dev,libgmock-dev,gdb,procps

[ "$(id -u)" -eq 0 ] || { echo "debian13.sh: a chroot needs root" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "debian13.sh: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }

if [ ! -e "$folder" ]; then
  echo "debian13.sh: making $folder"
  rm -rf "$folder.part"  # of a run that was ended
  mmdebstrap --quiet --variant=apt --include="$more" trixie "$folder.part" "$mirror"
  mv "$folder.part" "$folder"
fi

# The mounts live and die with this namespace: nothing of them is left, however this ends.
exec unshare --mount --fork bash -euc '
  source_dir=$1 folder=$2; shift 2
  mkdir -p "$folder/src" "$folder/build"
  mount --rbind "$folder" "$folder"  # ip netns wants a root that is a mount
  mount --bind "$source_dir" "$folder/src"
  mount -o remount,bind,ro "$folder/src"
  mount -t proc proc "$folder/proc"
  mount -t sysfs sysfs "$folder/sys"
  mount --rbind /dev "$folder/dev"
  mount -t tmpfs tmpfs "$folder/run"
  settings=(PATH="$PATH" HOME=/root LC_ALL=C.UTF-8 JOBS="${JOBS:-$(nproc)}")
  for name in ${!RW_@}; do settings+=("$name=${!name}"); done
  exec chroot "$folder" /usr/bin/env -i "${settings[@]}" bash -euc '\''
      cd /src
      tools/packages.sh build >/build/packages.log
      cmake --preset release -B /build >/build/configure.log || { cat /build/configure.log; exit 1; }
      targets=$(ninja -C /build -t targets all | sed -n "s/^\(hosts_[a-z_]*\): phony$/\1/p")
      ninja -C /build -j "$JOBS" --quiet hccl_tests hccl_process_tests $targets
      ctest --test-dir /build --output-on-failure "$@"
    '\'' debian13 "$@"
' debian13 "$source_dir" "$folder" "$@"
