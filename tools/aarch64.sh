#!/usr/bin/env bash
# aarch64.sh [FOLDER [COMMAND...]]: builds the tree and its tests for 64-bit ARM and runs the unit, conformance (schedules fast and random:3) and Python
# suites under qemu-user, or COMMAND (`tools/aarch64.sh build/aarch64-tests build/aarch64-tests/build/unit_tests --gtest_filter='*Kernel*'`). FOLDER
# (build/aarch64-tests) is kept: Debian's ARM libraries, which mmdebstrap unpacks there on the first run, and the build. Programs of that machine
# are started by the kernel through qemu, inside a namespace of this script: nothing changes outside of it. Needs g++-aarch64-linux-gnu, qemu-user,
# mmdebstrap, a Debian mirror (DEBIAN_MIRROR) and a kernel from 6.7 on. JOBS are those of the compiler.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$source_dir/build/aarch64-tests}")
shift || true
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
# The suite that the cross compiler is of: a program needs the C library that it was linked with.
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
libraries=libc6-dev,libstdc++-dev,nlohmann-json3-dev,libcli11-dev,libdw-dev,libucx-dev,libgnutls28-dev,libgtest-dev,libgmock-dev
libraries+=,python3,python3-dev,python3-numpy,python3-pytest

qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || qemu=
missing=()
[ -n "$qemu" ] || missing+=(qemu-user)
command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
[ -e "$folder/root" ] || command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
if [ "${#missing[@]}" -gt 0 ]; then
  echo "aarch64.sh: missing: ${missing[*]}; on Debian: apt-get install ${missing[*]}" >&2
  exit 1
fi

if [ ! -e "$folder/root" ]; then
  echo "aarch64.sh: unpacking ARM libraries into $folder/root"
  rm -rf "$folder/root.part"  # of a run that was ended
  mkdir -p "$folder"
  compiler=$(aarch64-linux-gnu-g++ -dumpversion)
  mmdebstrap --quiet --arch=arm64 --variant=extract --include="${libraries/libstdc++-dev/libstdc++-${compiler%%.*}-dev}" "$suite" "$folder/root.part" "$mirror"
  # qemu looks into this folder first, for every path: what belongs to the system that it runs on must not be in it.
  find "$folder/root.part" -mindepth 1 -maxdepth 1 -not -name usr -not -name 'lib*' -not -name '*bin' -exec rm -rf {} +
  # The choice that installing these would have made.
  for library in blas lapack; do ln -sf $library/lib$library.so.3 "$folder/root.part/usr/lib/aarch64-linux-gnu/lib$library.so.3"; done
  mv "$folder/root.part" "$folder/root"
fi

# In a namespace of users the kernel has a table of interpreters of its own. F: qemu is opened now, and by nobody's path later.
cat >"$folder/inside.sh" <<'END'
set -euo pipefail
source_dir=$1 folder=$2 qemu=$3; shift 3
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || { echo "aarch64.sh: this kernel has one table of interpreters for all; 6.7 and later have more" >&2; exit 1; }
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":ropeway-aarch64:M::$magic:$mask:$qemu:F" >/proc/sys/fs/binfmt_misc/register
export QEMU_LD_PREFIX=$folder/root

build=$folder/build
python=$folder/root/usr/bin/python3
cmake -S "$source_dir" --preset aarch64 -B "$build" -DCMAKE_SYSROOT="$folder/root" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" -DBUILD_TESTING=ON \
  -DROPEWAY_CUDA=OFF -DROPEWAY_PYTHON="$python" >"$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; exit 1; }
cmake --build "$build" -j "${JOBS:-$(nproc)}" --target unit_tests conformance_tests cann -- --quiet
cd "$source_dir"
export GTEST_BRIEF=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$build/cann/python/site-packages ROPEWAY_TEST_TREE=$build/cann
if [ "$#" -gt 0 ]; then exec "$@"; fi

# qemu before 8.1 has a record of every page that is reserved, so there are few addresses (docs/tools.md): two devices get a GiB each, and the tests that
# reserve whole GiB of virtual memory, or count those of a device, have to be left out.
export ROPEWAY_DEVICES=2
gigabytes=MapMem.PagesOfOneGigabyteWantTheirAlignment:ReserveMemAddress.NoUcWantsAnAddressAndWholeGigabytes
gigabytes+=:ReserveMemAddress.AddressesAreAlignedToTheirPages:ReserveMemAddress.MisalignedWishesAreRefused
failed=0
run() { echo "aarch64.sh: $*"; env "$@" || failed=1; }
run "$build/unit_tests"
run ROPEWAY_SCHEDULE=fast "$build/conformance_tests" --gtest_filter="-$gigabytes"
run ROPEWAY_SCHEDULE=random:3 "$build/conformance_tests" --gtest_filter="-$gigabytes"
# Interpreters of this machine cannot load the module.
run "$python" -m pytest -q -ra -p no:cacheprovider -k "not test_device_facts and not test_19_slips" --ignore tests/python/test_interpreters.py tests/python
exit "$failed"
END
exec unshare --user --map-root-user --mount bash "$folder/inside.sh" "$source_dir" "$folder" "$qemu" "$@"
