#!/usr/bin/env bash
# try_packages.sh [SUITE...]: makes the Debian packages and tries them in clean chroots (bookworm and trixie by default): they install, the demo and the
# conformance tests run, the program of README.md is built by pkg-config, by CMake and by plain g++, and nothing is left when they are
# removed (an empty /opt goes with them). Needs root, mmdebstrap and a Debian mirror (DEBIAN_MIRROR). The chroots are thrown away.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- bookworm trixie
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" -eq 0 ] || { echo "try_packages.sh: a chroot needs root" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "try_packages.sh: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }

make -C "$source_dir" deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for suite in "$@"; do
  root=$work/$suite
  echo "try_packages.sh: $suite"
  mmdebstrap --quiet --variant=apt --include=g++,cmake,make,pkg-config,python3 "$suite" "$root" "$mirror"
  mkdir -p "$root/packages"
  cp "$source_dir"/build/deb/*.deb "$root/packages"
  sed -n '/^```cpp file=hello.cpp$/,/^```$/p' "$source_dir/README.md" | sed '1d;$d' >"$root/packages/hello.cpp"
  [ -s "$root/packages/hello.cpp" ] || { echo "try_packages.sh: README.md has no hello.cpp" >&2; exit 1; }
  # The mounts live and die with this namespace.
  unshare --mount --fork bash -euc '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/run"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -euc "$2"
  ' try_packages "$root" '
    cd /packages
    find / -xdev -not -path "/proc/*" -not -path "/packages/*" -not -path "/var/*" -not -path "/etc/ld.so.cache" -not -path /opt | sort >/packages/before
    apt-get install -q -y --no-install-recommends ./*.deb >/packages/log 2>&1 || { cat /packages/log; exit 1; }
    /opt/ropeway/bin/ropeway demo >/packages/log || { cat /packages/log; exit 1; }
    [ ! -e /opt/ropeway/libexec/ropeway/conformance_tests ] || GTEST_BRIEF=1 /opt/ropeway/libexec/ropeway/conformance_tests >/packages/log || { tail -20 /packages/log; exit 1; }
    export PKG_CONFIG_PATH=/opt/ropeway/share/pkgconfig
    g++ hello.cpp -o by_pkg_config $(pkg-config --cflags --libs ascendcl)
    mkdir -p cmake && cp hello.cpp cmake && cat >cmake/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(hello CXX)
find_package(Ropeway REQUIRED)
add_executable(hello hello.cpp)
target_link_libraries(hello Ropeway::ascendcl)
END
    cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH=/opt/ropeway >/packages/log && cmake --build cmake/build >/packages/log
    (source /opt/ropeway/set_env.sh; g++ hello.cpp -o plain -lascendcl; ./plain; python3 -c "import acl; print(acl.rt.get_device_count())")
    ./by_pkg_config
    cmake/build/hello
    apt-get purge -q -y "ropeway*" >/packages/log 2>&1
    apt-get autoremove -q -y --purge >/packages/log 2>&1
    find / -xdev -not -path "/proc/*" -not -path "/packages/*" -not -path "/var/*" -not -path "/etc/ld.so.cache" -not -path /opt | sort >/packages/after
    diff /packages/before /packages/after || { echo "left behind or gone"; exit 1; }
  '
  echo "try_packages.sh: $suite is good"
done
