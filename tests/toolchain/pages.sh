#!/usr/bin/env bash
# pages.sh: plants names of pages, sections and headings that are not there into a small tree, and sees tools/check_pages.py find every
# one. Then it looks at this tree.
set -euo pipefail
check=$(cd "$(dirname "$0")/../../tools" && pwd)/check_pages.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

put() {  # put FILE LINES: a file of the tree
  mkdir -p "$(dirname "$tree/$1")"
  printf '%b\n' "$2" > "$tree/$1"
}

plain_tree() {
  rm -rf "${tree:?}"/*
  put README.md '[house](docs/house.md)'
  put docs/house.md '# House\n\n[rules](rules/streams.md#2-order), [top](#house)'
  put docs/rules/streams.md '# Streams\n\n## 1. Create\n\n| 7 | flag |\n\n## 2. Order\n\n## 3. Destroy'
  put src/api/stream.cpp '// Streams (rules/streams.md 1 to 3; rules/streams.md 1, step 7; docs/house.md; rules/streams.md\n// 2, 3).'
}

expect() {  # expect STATUS WHAT FILE: that the check ends so, and names the file
  local status=0 said
  said=$(python3 "$check" "$tree" 2>&1) || status=$?
  if [ "$status" != "$1" ] || { [ -n "$3" ] && ! grep -qF "$3:" <<< "$said"; }; then
    failed=1
    printf 'pages.sh: %s: status %s, expected %s with %s\n%s\n' "$2" "$status" "$1" "${3:-nothing}" "$said" >&2
  fi
}

plant() {  # plant WHAT FILE LINES
  plain_tree
  put "$2" "$3"
  expect 1 "$1" "$2"
}

plain_tree
expect 0 "nothing planted" ""
plant "page of another house" src/api/up.cpp '// Streams (runtime.md 4).'
plant "page without a number" tests/unit/up.cpp '// See copy-and-memory.md.'
plant "rules that are not there" src/api/up.h '// rules/queues.md 1'
plant "section that is not there" src/api/up.h '// rules/streams.md 4'
plant "section of a section" src/api/up.h '// rules/streams.md 1.1.'
plant "section at the end of a sentence" src/api/up.h '// Streams: rules/streams.md 4.'
plant "section in a list" src/api/up.h '// rules/streams.md 1, 9'
plant "section in a range" src/api/up.h '// rules/streams.md 2 to 4'
plant "section in the next line" cmake/up.cmake '# rules/streams.md\n# 8'
plant "step that is not there" src/api/up.h '// rules/streams.md 1, step 8'
plant "number of a page without numbers" src/api/up.h '// docs/house.md 2'
plant "link to nothing" docs/house.md '[rules](rules/streams.md) [gone](gone/)'
plant "link to no heading" docs/house.md '[rules](rules/streams.md#4-abort)'
plant "file that is not there" docs/house.md '[rules](rules/streams.md): see `api/gone.cpp` and `api/stream.cpp`'
plant "sections that do not count" docs/rules/streams.md '## 1. Create\n\n## 3. Destroy\n\n## 2. Order'
plant "page that nobody links" docs/attic.md '# Attic'
[ "$failed" = 0 ] || exit 1
python3 "$check"
