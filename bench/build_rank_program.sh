#!/usr/bin/env bash
# build_rank_program.sh BUILD NAME FOLDER [FLAG...]: compiles bench/NAME.cpp against the libraries of a build, into FOLDER.
set -euo pipefail
if [ $# -lt 3 ] || [ ! -e "$1/libhccl.so" ]; then
  echo "usage: build_rank_program.sh BUILD NAME FOLDER   (no libhccl.so in '${1:-}')" >&2
  exit 2
fi
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
libraries=$(cd -- "$1" && pwd)
"${CXX:-c++}" -std=c++20 -O2 -Wall -pthread -o "$3/$2" "$root/bench/$2.cpp" -I"$root" -I"$root/include" -L"$libraries" -lhccl -lascendcl \
  -Wl,-rpath,"$libraries" "${@:4}"
