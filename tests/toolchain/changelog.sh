#!/usr/bin/env bash
# changelog.sh: CHANGELOG.md can be released as it stands: what is not released comes first, versions go down and come once, none is empty, and the
# newest is the one that include/ropeway/ropeway.h and the examples for CI have. Then the same for a copy that tools/release.py has made a release of.
set -euo pipefail
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
tree=${1:-$tools/..}
self=$(realpath "$0")
cd "$tree"
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
for file in packaging/ci/*; do
  grep -q "[v:]${header//./\\.}\$" "$file" || fail "$file names another version than $header"
done
echo "${#versions[@]} versions, newest ${versions[0]}"
if [ $# -eq 0 ] && [ "${sections[0]}" = Unreleased ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/include/ropeway" "$work/packaging"
  cp CHANGELOG.md "$work" && cp include/ropeway/ropeway.h "$work/include/ropeway" && cp -r packaging/ci "$work/packaging"
  entries=$(grep -c '^- ' CHANGELOG.md)
  ! "$tools/release.py" "$header" "$work" 2>/dev/null || fail "$header is released twice"
  "$tools/release.py" 1000.0.0 "$work" >/dev/null && bash "$self" "$work" || fail "what tools/release.py makes is no release"
  [ "$(grep -c '^- ' "$work/CHANGELOG.md")" = "$entries" ] || fail "tools/release.py has lost entries"
fi
exit "$failed"
