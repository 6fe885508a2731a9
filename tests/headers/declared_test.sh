#!/bin/sh
# Checks that a built library defines every function that its headers declare: a program that uses one must not fail to
# link. One line per failure, then a closing count.
# Usage: declared_test.sh LIBRARY HEADER...
set -u

library=${1:?usage: declared_test.sh LIBRARY HEADER...}
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

if ! nm -DC --defined-only "$library" >"$work/nm"; then
    echo "FAILED: cannot read the symbols of $library"
    exit 2
fi
# C++ names come with their arguments, names of a library with versions come with theirs.
sed -E 's/^[0-9a-f]* [A-Za-z] //; s/[(@].*//' "$work/nm" | sort -u >"$work/exported"

# Macros are left out. Statements that end in ';' and have no body: what stands before the first '(' is a function's name when the statement is
# marked as exported or the name has a prefix of the libraries. Members of classes have neither.
sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' "$@" | sed -E 's,//.*,,; /^ *#/d' | tr '\n' ' ' | sed -E 's,/\*([^*]|\*+[^*/])*\*+/, ,g; s/extern "C(\+\+)?" *\{//g' | tr ';}' '\n\n' |
    awk '!/[{]/ && !/^[^(]*=/ && !/^ *(typedef|using|return|if|static_assert)/ && match($0, /[A-Za-z_0-9]+ *\(/) {
        name = substr($0, RSTART, RLENGTH); sub(/ *\($/, "", name)
        if ($0 ~ /RW_(WEAK_)?API/ || name ~ /^(acl|Acl|mspti|mstx|ropeway|Hccl|Hcomm)/) print name
    }' | sort -u >"$work/declared"
if [ ! -s "$work/declared" ]; then
    echo "FAILED: no functions in $*"
    exit 2
fi

comm -23 "$work/declared" "$work/exported" | sed 's/^/FAILED declared, but not in the library: /' >"$work/missing"
cat "$work/missing"
failed=$(wc -l <"$work/missing")
echo "$(($(wc -l <"$work/declared") - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
