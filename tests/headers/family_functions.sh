#!/bin/bash
# Checks in an installed tree that every function of family_functions.inc is declared in the header that clients include for it, and let out by
# the library in which they look for it, under that library's name. One line per failure, then a closing count.
# Usage: family_functions.sh TREE FAMILY_FUNCTIONS
set -u

tree=${1:?usage: family_functions.sh TREE FAMILY_FUNCTIONS}
table=${2:?usage: family_functions.sh TREE FAMILY_FUNCTIONS}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
fail() {
  failed=$((failed + 1))
  echo "FAILED $*"
}

sed -nE 's/^(WORKS|REFUSES|ANSWERS)\(([a-z_]+), ([a-z_/0-9]+\.h), (\w+),.*/\2 \4 \3/p; s/^LOOKED_UP\(([a-z_]+), (\w+)\)$/\1 \2/p' "$table" >"$work/rows"
while read -r library name header; do
  if [ ! -e "$work/$library" ]; then
    nm -D --defined-only "$tree/lib64/lib$library.so" 2>"$work/log" | awk '{ print $NF }' >"$work/$library"
  fi
  if [ -n "$header" ] && ! grep -Eq "^RW_API.*[ *]$name\(" "$tree/include/$header"; then
    fail "$header does not declare $name"
  elif ! grep -Fxq "$name" "$work/$library"; then
    fail "lib$library.so has no $name"
  else
    passed=$((passed + 1))
  fi
done <"$work/rows"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 400 ]
