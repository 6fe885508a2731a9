#!/usr/bin/env bash
# other_compilers.sh COMPILER: the tree is not written for the one compiler that builds it. Every other GCC from 11 on and clang from 14 on
# that is installed reads the files on which one of them once stumbled: constant tables, references that come out of functions, captured
# bindings, includes that another library brings along by chance. Of warnings only the one that was seen counts: a later compiler may have
# new ones. Exits 77, loudly, when there is no other: clang++ by its plain name is the one of the preset `asan`, which builds them all.
set -u
own=${1:?usage: other_compilers.sh COMPILER}
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
files=(src/base/faults.cpp src/memory/physical_memory.cpp src/api/physical_memory.cpp src/hccl/bootstrap/rank_table.cpp src/hccl/membership/channels.cpp
       tests/conformance/copy/Memcpy2d_test.cpp)
flags=(-std=c++20 -fsyntax-only -Iinclude -Isrc -I.)

seen=" $(readlink -f "$own") $(readlink -f "$(command -v clang++)") "
passed=0
failed=0
for compiler in $(compgen -c | grep -xE '(g|clang)\+\+(-[0-9]+)?' | sort -u); do
  path=$(readlink -f "$(command -v "$compiler")")
  case $path in */ccache) continue ;; esac
  case $seen in *" $path "*) continue ;; esac
  seen+="$path "
  least=11
  case $compiler in clang*) least=14 ;; esac
  version=$("$compiler" -dumpversion) || continue
  version=${version%%.*}
  [ "$version" -ge "$least" ] || continue
  warnings=()
  if [ "$least" = 11 ] && [ "$version" -ge 13 ]; then warnings+=(-Werror=dangling-reference); fi
  for file in "${files[@]}"; do
    if "$compiler" "${flags[@]}" "${warnings[@]}" "$file" >"$work/log" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAILED $compiler $file: $(grep -m 1 error "$work/log")"
    fi
  done
done
if [ $((passed + failed)) -eq 0 ]; then
  echo "SKIPPED: no other GCC or clang is installed" >&2
  exit 77
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
