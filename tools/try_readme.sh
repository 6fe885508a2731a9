#!/usr/bin/env bash
# try_readme.sh [SUITE...]: does what README.md says, in clean chroots (bookworm and trixie by default) that have make and git and nothing else: a clone of the
# last commit, `make demo`, `make test`. TARGETS="demo test-release" takes others. Needs root, mmdebstrap and a Debian mirror (DEBIAN_MIRROR). The
# chroots are thrown away; what was said is left as build/try_readme/SUITE.log.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- bookworm trixie
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" -eq 0 ] || { echo "try_readme.sh: a chroot needs root" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "try_readme.sh: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
logs=$source_dir/build/try_readme
mkdir -p "$logs"
failed=0
for suite in "$@"; do
  root=$work/$suite
  echo "try_readme.sh: $suite"
  mmdebstrap --quiet --variant=apt --include=make,git,ca-certificates "$suite" "$root" "$mirror"
  git clone --quiet --no-hardlinks "$source_dir" "$root/root/ropeway"
  # The mounts live and die with this namespace. ip netns wants a root that is a mount.
  unshare --mount --fork bash -euc '
    mount --rbind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount -t sysfs sysfs "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/run"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 bash -euc "cd /root/ropeway; for target in $2; do make \$target; done"
  ' try_readme "$root" "${TARGETS:-demo test}" >"$logs/$suite.log" 2>&1 && status=0 || status=$?
  if [ "$status" -eq 0 ]; then
    echo "try_readme.sh: $suite is good"
  else
    failed=1
    echo "try_readme.sh: $suite failed; the end of $logs/$suite.log:"
    tail -30 "$logs/$suite.log"
  fi
done
exit $failed
