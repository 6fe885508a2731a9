#!/usr/bin/env bash
# format.sh [--check]: formats every source file with clang-format, or with --check only says which are not formatted. Version 14, because each
# one formats a little differently.
set -euo pipefail
cd "$(dirname "$0")/.."
clang_format=$(command -v clang-format-14 || command -v clang-format || true)
case $("${clang_format:-false}" --version 2>/dev/null || true) in
  *" version 14."*) ;;
  *)
    echo "format.sh: needs clang-format 14: apt-get install clang-format-14" >&2
    exit 77
    ;;
esac
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
git ls-files -co --exclude-standard -z -- '*.cpp' '*.h' '*.c' '*.js' | xargs -0 -r "$clang_format" "${mode[@]}"
