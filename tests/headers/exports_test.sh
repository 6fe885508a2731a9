#!/bin/sh
# Checks what a built library exports: every public name, and nothing outside the name spaces that are ours to fill.
# One line per failure, then a closing count.
# Usage: exports_test.sh LIBRARY NAMES_FILE [OURS], with OURS a regular expression for names beside those of the file
set -u

library=${1:?usage: exports_test.sh LIBRARY NAMES_FILE}
names=${2:?usage: exports_test.sh LIBRARY NAMES_FILE}
ours=${3:-'^(acl|ropeway)'}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# Older runtime names that clients look up beside the acl ones.
cat >"$work/older" <<'END'
rtDeviceGetBareTgid
rtGetDeviceInfo
rtSetIpcMemorySuperPodPid
rtIpcSetMemoryName
rtIpcDestroyMemoryName
rtIpcOpenMemory
rtIpcCloseMemory
rtEnableP2P
rtDisableP2P
rtGetLogicDevIdByUserDevId
rtMemcpyAsyncWithoutCheckKind
END

if ! nm -D --defined-only "$library" >"$work/nm"; then
    echo "FAILED: cannot read the symbols of $library"
    exit 2
fi
awk '{ sub(/@.*/, "", $NF); print $NF }' "$work/nm" | sort -u >"$work/exported"
sort -u "$names" >"$work/wanted"
if [ ! -s "$work/wanted" ]; then
    echo "FAILED: no names in $names"
    exit 2
fi

comm -23 "$work/wanted" "$work/exported" >"$work/missing"
sed 's/^/FAILED not exported: /' "$work/missing"
failed=$((failed + $(wc -l <"$work/missing")))
passed=$((passed + $(comm -12 "$work/wanted" "$work/exported" | wc -l)))

grep -Ev "$ours" "$work/exported" | grep -Fxv -f "$work/older" | grep -Fxv -f "$work/wanted" >"$work/foreign"
sed 's/^/FAILED exported without need: /' "$work/foreign"
failed=$((failed + $(wc -l <"$work/foreign")))
if [ ! -s "$work/foreign" ]; then passed=$((passed + 1)); fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
