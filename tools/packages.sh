#!/usr/bin/env bash
# packages.sh [build|test|bench|site]: installs the packages that the drop-in tree (or the tests, or the measurements, too; or the web site alone)
# needs and that are not there yet, by apt (Debian, Ubuntu) or by dnf (openEuler, Fedora). Says what it installs, and what this system has not got;
# silent and without root when nothing is missing. On other systems it says what to look for.
set -euo pipefail
say() { echo "packages.sh: $*" >&2; }

# By Debian's names. Without the first nothing is built; without one of the others something is left out (docs/dependencies.md).
needed=(build-essential cmake ninja-build nlohmann-json3-dev libcli11-dev)
useful=(ccache libdw-dev libucx-dev libgnutls28-dev python3 python3-dev)
case "${1:-build}" in
  build) ;;
  test)
    needed+=(git libgtest-dev libgmock-dev)
    useful+=(clang libclang-rt-dev clang-tidy clang-format iproute2 pkg-config python3-numpy python3-pytest chromium fonts-dejavu-core)
    [ "$(uname -m)" != x86_64 ] || useful+=(g++-aarch64-linux-gnu qemu-user)
    ;;
  bench) useful+=(pocl-opencl-icd ocl-icd-opencl-dev opencl-c-headers ucx-utils valgrind openmpi-bin) ;;
  site) needed=(python3 python3-markdown) useful=() ;;
  *) say "unknown set '$1': say build, test, bench or site"; exit 2 ;;
esac

# names PACKAGE: what it is called here; of several, the first that is known is the one.
names() {
  [ "$manager" = dnf ] || { echo "$1"; return; }
  case $1 in
    build-essential) echo gcc-c++ ;;
    nlohmann-json3-dev) echo json-devel nlohmann-json-devel nlohmann_json-devel ;;
    libcli11-dev) echo cli11-devel CLI11-devel ;;
    libdw-dev) echo elfutils-devel ;;
    libucx-dev) echo ucx-devel ;;
    ucx-utils) echo ucx ;;
    libgnutls28-dev) echo gnutls-devel ;;
    python3-dev) echo python3-devel ;;
    libgtest-dev) echo gtest-devel ;;
    libgmock-dev) echo gmock-devel gtest-devel ;;
    libclang-rt-dev) echo compiler-rt ;;
    clang-tidy | clang-format) echo clang-tools-extra ;;
    iproute2) echo iproute ;;
    pkg-config) echo pkgconf-pkg-config pkgconf pkgconfig ;;
    fonts-dejavu-core) echo dejavu-sans-fonts dejavu-fonts ;;
    g++-aarch64-linux-gnu) echo gcc-c++-aarch64-linux-gnu ;;
    qemu-user) echo qemu-user qemu-user-static ;;
    ocl-icd-opencl-dev) echo ocl-icd-devel ;;
    opencl-c-headers) echo opencl-headers ;;
    pocl-opencl-icd) echo pocl ;;
    openmpi-bin) echo openmpi ;;
    *) echo "$1" ;;
  esac
}
installed() {
  case $manager in
    apt-get) [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" = "install ok installed" ] ;;
    dnf) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
  esac
}
known() {
  case $manager in
    apt-get) [ -n "$(apt-cache madison "$1" 2>/dev/null)" ] ;;
    dnf) [ -n "$(dnf -q repoquery --whatprovides "$1" 2>/dev/null)" ] ;;
  esac
}

manager=
for tool in apt-get dnf; do
  command -v $tool >/dev/null 2>&1 && manager=$tool && break
done
if [ -z "$manager" ]; then
  say "neither apt nor dnf is here; needed, under whatever names this system has: ${needed[*]}; and as far as there is: ${useful[*]}"
  exit 0
fi

missing=()
for package in "${needed[@]}" "${useful[@]}"; do
  there=
  for name in $(names "$package"); do ! installed "$name" || there=1; done
  [ -n "$there" ] || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    wanted=()
    for package in "${missing[@]}"; do read -r -a names <<<"$(names "$package")"; wanted+=("${names[0]}"); done
    say "missing: ${wanted[*]}; install them as root: $manager install ${wanted[*]}"
    exit 1
  fi
  as_root=(sudo "${as_root[@]}")
fi
[ "$manager" != apt-get ] || "${as_root[@]}" apt-get update -q

# What a system has not got must not keep it from the rest. Whoever has it from elsewhere may go on: the build finds out.
wanted=() lacking=() without=()
for package in "${missing[@]}"; do
  found=
  for name in $(names "$package"); do
    if [ -z "$found" ] && known "$name"; then found=$name; fi
  done
  if [ -n "$found" ]; then
    wanted+=("$found")
  elif [[ " ${needed[*]} " == *" $package "* ]]; then
    lacking+=("$package")
  else
    without+=("$package")
  fi
done
if [ "${#wanted[@]}" -gt 0 ]; then
  say "installing ${wanted[*]}"
  case $manager in
    apt-get) "${as_root[@]}" apt-get install -q -y --no-install-recommends "${wanted[@]}" ;;
    dnf) "${as_root[@]}" dnf install -q -y --setopt=install_weak_deps=False "${wanted[@]}" ;;
  esac
fi
[ "${#without[@]}" -eq 0 ] || say "not in this system's repositories (Debian's names): ${without[*]}; what needs them is left out: docs/dependencies.md"
[ "${#lacking[@]}" -eq 0 ] || say "not in this system's repositories (Debian's names): ${lacking[*]}; nothing is built without, so install them from their sources: docs/dependencies.md"
