#!/usr/bin/env bash
# changelog.sh: CHANGELOG.md can be released as it stands: what is not released comes first, versions go down and come once, none is empty, and the
# newest is the one that include/ropeway/ropeway.h has.
set -euo pipefail
cd "$(dirname "$0")/../.."
failed=0
fail() { failed=1; echo "FAILED $*"; }

mapfile -t sections < <(sed -n 's/^## //p' CHANGELOG.md)
versions=("${sections[@]}")
[ "${sections[0]}" != Unreleased ] || versions=("${sections[@]:1}")
[ "${#versions[@]}" -gt 0 ] || fail "no version"
for version in "${versions[@]}"; do
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "'## $version' is no version"
done
[ "$(printf '%s\n' "${versions[@]}")" = "$(printf '%s\n' "${versions[@]}" | sort -ruV)" ] || fail "versions do not go down: ${versions[*]}"
while read -r empty; do fail "nothing under $empty"; done < <(awk '/^## /{ if (name && !lines) print name; name = $2; lines = 0; next } /^- /{ lines++ } END { if (!lines) print name }' CHANGELOG.md)
header=$(sed -n 's/^#define ROPEWAY_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/ropeway/ropeway.h | paste -sd.)
[ "${versions[0]}" = "$header" ] || fail "the newest version is ${versions[0]}, and ropeway.h has $header"
echo "${#versions[@]} versions, newest ${versions[0]}"
exit "$failed"
