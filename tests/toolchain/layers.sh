#!/usr/bin/env bash
# layers.sh [COMPILER]: plants includes that go up, each in another disguise, into a small tree, and sees tools/check_layers.py find every
# one. Then it looks at this tree.
set -euo pipefail
export CXX=${1:-c++}
check=$(cd "$(dirname "$0")/../../tools" && pwd)/check_layers.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

put() {  # put FILE LINES: a file of the tree
  mkdir -p "$(dirname "$tree/$1")"
  printf '%b\n' "$2" > "$tree/$1"
}

plain_tree() {
  rm -rf "${tree:?}"/*
  put include/acl/acl.h '#pragma once'
  put src/api/entry.h '#pragma once\n#include "memory/heap.h"'
  put src/memory/heap.h '#pragma once\n#include "engine/engine.h"\n#include "base/status.h"'
  put src/engine/engine.h '#pragma once\n#include "base/status.h"'
  put src/engine/sched/queue.h '#pragma once\n#include "engine/engine.h"'
  put src/base/status.h '#pragma once\n#include <vector>\n#include "acl/acl.h"'
  put src/hccl/membership/rank.h '#pragma once\n#include "acl/acl.h"\n#include "base/status.h"'
  put src/hccl/api/comm.cpp '#include "hccl/membership/rank.h"'
  put cli/main.cpp '#include "acl/acl.h"'
}

expect() {  # expect STATUS WHAT FILE: that the check ends so, and names the file
  local status=0 said
  said=$(python3 "$check" "$tree" 2>&1) || status=$?
  if [ "$status" != "$1" ] || { [ -n "$3" ] && ! grep -qF "$3:" <<< "$said"; }; then
    failed=1
    printf 'layers.sh: %s: status %s, expected %s with %s\n%s\n' "$2" "$status" "$1" "${3:-nothing}" "$said" >&2
  fi
}

plant() {  # plant WHAT FILE LINES
  plain_tree
  put "$2" "$3"
  expect 1 "$1" "$2"
}

plain_tree
expect 0 "nothing planted" ""
plant "plain" src/base/up.h '#include "memory/heap.h"'
plant "relative" src/memory/up.cpp '#include "../base/status.h"'
plant "from here" src/memory/up.cpp '#include "./heap.h"'
plant "macro" src/base/up.h '#define ROOM "memory/heap.h"\n#include ROOM'
plant "comment" src/base/up.h '/* nothing\n*/ #/**/include "memory/heap.h"'
plant "new room" src/attic/old.h '#pragma once'
plant "no room" src/loose.h '#pragma once'
plant "sub-room" src/engine/up.h '#include "engine/sched/queue.h"'
plant "environment" src/base/up.cpp 'const char* home = std::getenv("HOME");'
plant "all of it" src/hccl/membership/up.cpp 'extern char** environ;'
plain_tree
put src/base/settings.cpp 'const char* home = std::getenv("HOME");'
expect 0 "the file of settings" ""
plain_tree
put src/hccl/api/names.h '#pragma once'
put src/hccl/membership/up.h '#include "hccl/api/names.h"'
expect 1 "sub-room of hccl" src/hccl/membership/up.h
plant "library on top" src/hccl/membership/up.h '#include "memory/heap.h"'
plant "outside" cli/up.cpp '#include "src/api/entry.h"'
plain_tree
put src/base/pieces.inc '#include "memory/heap.h"'
put src/base/up.h '#include "base/pieces.inc"'
expect 1 "a file of another name" src/base/up.h
[ "$failed" = 0 ] || exit 1
python3 "$check"
