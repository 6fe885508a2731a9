#!/usr/bin/env bash
# cross_build.sh: the preset aarch64 chooses the kernels of that machine for all libraries, also for the CUDA plugin where nvcc is
# installed. Compiles the kernels and the plugin, which is small. Exits 77, loudly, without the cross compiler.
set -u
cd "$(dirname "$0")/../.." || exit 2
if ! command -v aarch64-linux-gnu-g++ >/dev/null; then
  echo "SKIPPED: no aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu): the cross build was not tested" >&2
  exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

cmake --preset aarch64 -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mapfile -t kernels < <(ninja -C "$work" -t targets all | sed -n 's|^\(.*/engine/cpu/kernels/.*\.o\): .*|\1|p')
printf '%s\n' "${kernels[@]}" | grep -q _neon || { echo "FAILED: no kernels of this machine"; exit 1; }
plugin=$(ninja -C "$work" -t targets all | sed -n 's/^\(libropeway_cuda\.so\): .*/\1/p')
ninja -C "$work" "${kernels[@]}" $plugin >"$work/log" 2>&1 || { grep -A 5 FAILED "$work/log"; exit 1; }
echo "${#kernels[@]} kernels${plugin:+ and $plugin} for aarch64"
