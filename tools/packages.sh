#!/usr/bin/env bash
# packages.sh [build|test|bench|site]: installs the Debian packages that the drop-in tree (or the tests, or the measurements, too; or the web
# site alone) needs and that are not there yet. Says what it installs; silent and without root when nothing is missing.
set -euo pipefail

packages=(build-essential cmake ninja-build ccache nlohmann-json3-dev libcli11-dev libdw-dev libucx-dev libgnutls28-dev python3 python3-dev)
test_packages=(git clang clang-tidy clang-format libgtest-dev libgmock-dev iproute2 pkg-config python3-numpy python3-pytest
               chromium fonts-dejavu-core g++-aarch64-linux-gnu qemu-user)
case "${1:-build}" in
  build) ;;
  test) packages+=("${test_packages[@]}") ;;
  bench) packages+=(pocl-opencl-icd ocl-icd-opencl-dev opencl-c-headers ucx-utils valgrind openmpi-bin) ;;
  site) packages=(python3 python3-markdown) ;;
  *) echo "packages.sh: unknown set '$1': say build, test, bench or site" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "packages.sh: this is not a Debian system; needed, under whatever names it has: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "packages.sh: missing: ${missing[*]}; install them as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "packages.sh: installing ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
