#!/usr/bin/env bash
# format.sh [--check]: formats every source file with clang-format, or with --check only says which are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null 2>&1; then
  echo "format.sh: needs clang-format: apt-get install clang-format" >&2
  exit 1
fi
mode=(-i)
[ "${1:-}" != --check ] || mode=(--dry-run --Werror)
git ls-files -co --exclude-standard -z -- '*.cpp' '*.h' '*.c' | xargs -0 -r clang-format "${mode[@]}"
