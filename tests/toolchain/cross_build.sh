#!/usr/bin/env bash
# cross_build.sh: the preset aarch64 chooses the kernels of that machine for all libraries, also for the CUDA plugin where nvcc is
# installed. Compiles the kernels and runs their tests under qemu-user. Exits 77, loudly, without the cross compiler or qemu.
set -u
cd "$(dirname "$0")/../.." || exit 2
if ! command -v aarch64-linux-gnu-g++ >/dev/null; then
  echo "SKIPPED: no aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu): the cross build was not tested" >&2
  exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

cmake --preset aarch64 -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ninja -C "$work" -t targets all >"$work/targets"
if grep -E '/kernels/.*_avx(2|512)' "$work/targets"; then echo "FAILED: kernels of another machine"; exit 1; fi
mapfile -t kernels < <(sed -n 's|^\(CMakeFiles/ropeway_core.dir/.*/engine/cpu/kernels/.*\.o\): .*|\1|p' "$work/targets")
printf '%s\n' "${kernels[@]}" | grep -q _neon || { echo "FAILED: no kernels of this machine"; exit 1; }
ninja -C "$work" "${kernels[@]}" >"$work/log" 2>&1 || { grep -A 5 FAILED "$work/log"; exit 1; }
echo "${#kernels[@]} kernels for aarch64"

# A sample of what tools/aarch64.sh runs: the code that only this machine has, with its tests, in one static program.
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
googletest=/usr/src/googletest/googletest
if [ -z "$qemu" ] || [ ! -e "$googletest" ]; then
  echo "SKIPPED: no qemu-aarch64 (Debian: qemu-user), or no $googletest (libgtest-dev): compiled and not run" >&2
  exit 77
fi
compiler=(aarch64-linux-gnu-g++)
! command -v ccache >/dev/null || compiler=(ccache "${compiler[@]}")
sources=(tests/unit/kernels_test.cpp tests/unit/reduce_test.cpp tests/hccl/ReduceKernel_test.cpp src/hccl/base/reduce_kernel.cpp
         "$googletest/src/gtest-all.cc" "$googletest/src/gtest_main.cc")
for source in "${sources[@]}"; do
  case $source in src/*) level=-O2 ;; *) level=-O0 ;; esac
  "${compiler[@]}" -std=c++20 $level -Iinclude -Isrc -Itests -I. -isystem "$googletest/include" -isystem "$googletest" -c "$source" -o "$work/$(basename "$source").o" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
done
aarch64-linux-gnu-g++ -static "$work"/*.o "$work"/CMakeFiles/ropeway_core.dir/src/engine/cpu/kernels/*.o -o "$work/sample" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
GTEST_BRIEF=1 "$qemu" "$work/sample"
