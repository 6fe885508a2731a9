#!/bin/sh
# Compiles every public header the way strict clients do, warnings as errors: alone in C11 and in the oldest C++ with one compiler, in the
# newest with the other (those that bring the C++ library along, which takes a second each, in the oldest only); all together with each compiler at
# hand in C11 and in every C++, with the older string ABI in the oldest. The flat headers of HCCL's dispatcher and those of the transfer engines are for
# C++14 to C++20, all others for C++11 on.
# One line per failure, then a closing count.
# Usage: compile_matrix.sh INCLUDE_DIR
set -u

include_dir=${1:?usage: compile_matrix.sh INCLUDE_DIR}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

plain_headers='dcmi_interface_api.h dsmi_common_interface.h securec.h'
# shellcheck disable=SC2086
headers=$(cd "$include_dir" && find acl aclnn driver hccl hcomm mspti mstx runtime $plain_headers -name '*.h' | sort)
flat_headers=$(cd "$include_dir" && { ls ./*.h | sed 's|^./||' | grep -Exv "$(echo "$plain_headers" | tr ' ' '|')"; find adxl external graph hixl -name '*.h'; } | sort)
if [ -z "$headers" ]; then
    echo "no headers under $include_dir/acl"
    exit 2
fi

other_cxx=clang++
command -v "$other_cxx" >/dev/null || other_cxx=g++

# check LABEL COMPILER FLAGS...: the source is $work/unit.c or $work/unit.cpp, the last flag.
check() {
    label=$1
    shift
    if "$@" -fsyntax-only -Wall -Wextra -Werror -pedantic -I "$include_dir" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $label: $(grep -m 1 -E 'error|warning' "$work/log")"
    fi
}

# check_cxx LABEL ABIS STANDARD...: compiles the unit just written as C++ with every compiler.
check_cxx() {
    unit=$1
    abis=$2
    shift 2
    for cxx in g++ clang++; do
        command -v "$cxx" >/dev/null || continue
        for std in "$@"; do
            for abi in $abis; do
                check "$unit ($cxx c++$std abi $abi)" \
                    "$cxx" "-std=c++$std" "-D_GLIBCXX_USE_CXX11_ABI=$abi" "$work/unit.cpp"
            done
        done
    done
}

# check_unit LABEL ABIS STANDARD...: compiles the unit just written as C, too.
check_unit() {
    for cc in gcc clang; do
        command -v "$cc" >/dev/null || continue
        check "$1 ($cc c11)" "$cc" -std=c11 "$work/unit.c"
    done
    check_cxx "$@"
}

for header in $headers; do
    echo "#include \"$header\"" >"$work/unit.c"
    # Something beside the include, since ISO C forbids an empty unit; a second include shows that the guard works.
    printf '#include "%s"\nint used;\n' "$header" >>"$work/unit.c"
    cp "$work/unit.c" "$work/unit.cpp"
    check "$header (c11)" gcc -std=c11 "$work/unit.c"
    check "$header (c++11)" g++ -std=c++11 "$work/unit.cpp"
    check "$header (c++20)" "$other_cxx" -std=c++20 "$work/unit.cpp"
done

{
    for header in $headers; do echo "#include \"$header\""; done
    echo 'int used;'
} >"$work/unit.c"
{
    echo '#include <string>'
    cat "$work/unit.c"
} >"$work/unit.cpp"
check_unit "all headers together" 1 11 14 17 20
check_cxx "all headers together" 0 11

for header in $flat_headers; do
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$work/unit.cpp"
    check "$header (c++14)" g++ -std=c++14 "$work/unit.cpp"
done
for header in $flat_headers $headers; do echo "#include \"$header\""; done >"$work/unit.cpp"
check_cxx "flat headers before all others" 1 14 17 20
check_cxx "flat headers before all others" 0 14

# Some clients put the acl folder itself on the path and leave it out of the name.
include_dir=$include_dir/acl
for header in $headers; do
    case $header in acl/*) echo "#include \"${header#acl/}\"" ;; esac
done >"$work/unit.c"
echo 'int used;' >>"$work/unit.c"
cp "$work/unit.c" "$work/unit.cpp"
check_unit "all headers by their short names" 1 11 14 17 20

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
