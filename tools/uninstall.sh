#!/usr/bin/env bash
# uninstall.sh LIST: removes what `make install` wrote. The list names the prefix, then the files. Folders that are empty then go, too, up to
# the prefix itself.
set -euo pipefail
list=${1:?usage: uninstall.sh LIST}
[ -e "$list" ] || { echo "uninstall.sh: no $list: nothing was installed from here" >&2; exit 1; }
{
  IFS= read -r prefix
  while IFS= read -r file || [ -n "$file" ]; do
    rm -f -- "$file"
    folder=$(dirname -- "$file")
    while [[ "$folder/" == "$prefix"/* ]] && rmdir -- "$folder" 2>/dev/null; do folder=$(dirname -- "$folder"); done
  done
} <"$list"
rm -f -- "$list"
