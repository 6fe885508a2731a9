#!/usr/bin/env bash
# packages.sh: tools/packages.sh asks for packages by the names of the system that it is on, installs what there is and says what there is not. The
# tools of those systems are played by scripts: nothing is installed.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
verdict() {  # NAME STATUS
  [ "$2" -eq 0 ] && return
  failed=1
  echo "FAILED $1:"
  cat "$work/said" "$work/asked"
}
tool() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1" && chmod +x "$work/bin/$1"; }

# system: no tools but those that the script itself needs.
system() {
  rm -rf "$work/bin" && mkdir "$work/bin" && : >"$work/asked"
  for name in bash cat env uname; do ln -s "$(command -v $name)" "$work/bin/$name"; done
  tool id <<<'echo 0'
}
# run SET: as root of that system, with what was said in said, and what was installed in asked.
run() { PATH=$work/bin WORK=$work bash tools/packages.sh "$1" >"$work/said" 2>&1; }
said() { grep -qF -- "$1" "$work/said"; }
asked() { grep -qw -- "$1" "$work/asked"; }

system
tool rpm <<<'exit 1'
tool dnf <<'END'
case "$*" in
  *repoquery*cli11* | *repoquery*CLI11* | *repoquery*" json-devel" | *repoquery*nlohmann-json-devel) ;;  # not known
  *repoquery*) echo "${@: -1}-1.0" ;;
  *install*) echo "$*" >>"$WORK/asked" ;;
esac
END
run build
status=$?
[ $status -eq 0 ] && asked gcc-c++ && asked elfutils-devel && asked python3-devel && asked ucx-devel && asked nlohmann_json-devel && ! asked libdw-dev
verdict "names of dnf" $?
said "not in this system's repositories" && said libcli11-dev && ! asked cli11-devel
verdict "what dnf has not got is said" $?

system
tool dpkg-query <<<'exit 1'
tool apt-cache <<<'case $2 in chromium) ;; *) echo "$2 | 1.0 | here" ;; esac'
tool apt-get <<<'case $1 in install) echo "$*" >>"$WORK/asked" ;; esac'
run test
status=$?
[ $status -eq 0 ] && asked libgtest-dev && asked libucx-dev && ! asked chromium && said chromium && said "what needs them is left out"
verdict "a package that Ubuntu has not got" $?
tool dpkg-query <<<'echo "install ok installed"'
run test && [ ! -s "$work/said" ]
verdict "silent when nothing is missing" $?
tool dpkg-query <<<'exit 1'
tool id <<<'echo 1000'
: >"$work/asked"
! run build && said "install them as root: apt-get install build-essential" && [ ! -s "$work/asked" ]
verdict "no root" $?

system
run build && said "neither apt nor dnf is here" && said libucx-dev
verdict "a system with neither" $?
run everything
[ $? -eq 2 ] && said "unknown set 'everything': say build, test, bench or site"
verdict "an unknown set" $?

[ "$failed" -ne 0 ] || echo "7 passed"
exit $failed
