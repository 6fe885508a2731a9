#!/usr/bin/env bash
# launch.sh COMPILER ROPEWAY INCLUDE LIBRARY_FOLDER SOURCE_FOLDER: the layer sees every call, however a program comes by its AscendCL: linked
# lazily or at once, with an RPATH, by dlopen, and on top of another house's library. It survives programs that crash, fork, exec and leave
# without a word, and says when it was not loaded.
set -u
compiler=${1:?} ropeway=${2:?} include=${3:?} libraries=${4:?} sources=${5:?}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

build() { # NAME FLAG...
  local name=$1
  shift
  "$compiler" -std=c++17 -g -O1 -I "$include" "$sources/race.cpp" -o "$work/$name" "$@" || exit 2
}

# expect NAME STATUS RULE COMMAND...: the exit status, and the rules that were told, in order.
expect() {
  local name=$1 status=$2 rules=$3
  shift 3
  rm -f "$work/found"
  "$@" >"$work/out" 2>"$work/err"
  local got=$?
  local told=""
  [ -e "$work/found" ] && told=$(grep -o '"rule":"[^"]*"' "$work/found" | cut -d'"' -f4 | tr '\n' ' ')
  if [ "$got" -ne "$status" ] || [ "${told% }" != "$rules" ]; then
    failed=$((failed + 1))
    echo "FAILED $name: status $got, rules '${told% }'; wanted $status, '$rules'"
    cat "$work/err"
  fi
}
check() { "$ropeway" check --json --output "$work/found" "$@"; }

build lazy -L "$libraries" -lascendcl -Wl,-z,lazy
build now -L "$libraries" -lascendcl -Wl,-z,now
build rpath -L "$libraries" -lascendcl -Wl,--disable-new-dtags,-rpath,"$libraries"
build opened -DOPENED -ldl
for program in lazy now rpath opened; do
  expect "$program" 1 RW-RACE-001 check -- "$work/$program"
  expect "$program right" 0 "" check -- "$work/$program" right
done

mkdir "$work/mini"
"$compiler" -x c -shared -fPIC -fvisibility=hidden -o "$work/mini/libascendcl.so" "$sources/mini_ascendcl.c" || exit 2
for program in lazy now opened; do
  expect "$program on another AscendCL" 1 RW-RACE-001 check --on "$work/mini" -- "$work/$program"
  expect "$program right on another AscendCL" 0 "" check --on "$work/mini/libascendcl.so" -- "$work/$program" right
done

mkdir -p "$work/a tree/bin" "$work/a tree/lib64"
cp "$ropeway" "$work/a tree/bin/ropeway"
cp "$libraries"/libascendcl.so "$libraries"/libropeway_check.so "$work/a tree/lib64"
expect "a folder with a space" 1 RW-RACE-001 "$work/a tree/bin/ropeway" check --json --output "$work/found" -- "$work/lazy"
expect "and another AscendCL" 1 RW-RACE-001 "$work/a tree/bin/ropeway" check --on "$work/mini" --json --output "$work/found" -- "$work/opened"

expect "a child's finding counts" 1 RW-RACE-001 check -- bash -c "'$work/lazy'; true"
for program in lazy opened; do
  expect "$program: a crash keeps what was found" 139 RW-RACE-001 check -- "$work/$program" crash
  expect "$program: so does an exec" 1 RW-RACE-001 check -- "$work/$program" exec
  expect "$program: a child by itself" 1 RW-RACE-001 check -- "$work/$program" fork
done
expect "a library that is closed and opened again" 1 "RW-RACE-001 RW-RACE-001" check --every -- "$work/opened" twice
expect "and another AscendCL" 1 "RW-RACE-001 RW-RACE-001" check --every --on "$work/mini" -- "$work/opened" twice
expect "the program's own status" 3 "" check -- bash -c "'$work/lazy' right; exit 3"
expect "no such program" 127 "" check -- "$work/nothing"
printf 'RW-RACE-001 race.cpp # known\n' >"$work/suppressed"
expect "a suppressed finding" 0 "" check --suppress "$work/suppressed" -- "$work/lazy"
expect "text" 1 "" "$ropeway" check -- "$work/lazy"
grep -q "^RACE  RW-RACE-001  aclrtMemcpyAsync race.cpp:" "$work/err" || { echo "FAILED text:"; cat "$work/err"; failed=$((failed + 1)); }
grep -q "did you mean stream 1?" "$work/err" || { echo "FAILED hint:"; cat "$work/err"; failed=$((failed + 1)); }

expect "a fault" 0 "" check --fault aclrtMemcpyAsync:507899:after=1 -- "$work/lazy"
expect "a fault that is over" 1 RW-RACE-001 check --fault aclrtCreateEvent:207001 --fault aclrtMemcpyAsync:507899:after=2 -- "$work/lazy"
expect "a fault of the runtime's" 0 "" check --fault aclrtMalloc:memory -- "$work/lazy"
expect "a task that fails is ordered as any" 1 RW-RACE-001 check --fault aclrtMemcpyAsync:fail=507013 -- "$work/lazy"
expect "no fault" 2 "" check --fault aclrtMalloc -- "$work/lazy"
grep -q "in rule 1, 'aclrtMalloc', at '' fail=CODE" "$work/err" || { echo "FAILED fault:"; cat "$work/err"; failed=$((failed + 1)); }

echo "$failed failed"
[ "$failed" -eq 0 ]
