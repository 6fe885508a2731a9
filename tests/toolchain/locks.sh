#!/usr/bin/env bash
# locks.sh: docs/locking.md names the locks of base/lock_rank.h, in its order, under the names that the sources give them, and the sources
# have no others. Where clang is installed: what is written beside fields and functions is checked by it.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  failed=1
  printf 'locks.sh: %s\n' "$*" >&2
}

# The order. A row is: | `kRank` | `Class::member` | what it guards |
sed -n 's/^  X(\([A-Za-z]*\)).*/k\1/p' src/base/lock_rank.h > "$work/ranks"
sed -n 's/^| `\(k[A-Za-z]*\)` | `\([^`]*\)`.*/\1 \2/p' docs/locking.md > "$work/rows"
[ -s "$work/ranks" ] || fail "no rank was found in src/base/lock_rank.h"
diff -u --label src/base/lock_rank.h --label docs/locking.md "$work/ranks" <(cut -d' ' -f1 "$work/rows") >&2 || fail "the two orders differ"

# Every rank has one lock, of the name on the page.
while read -r rank name; do
  declared=$(grep -rhoE "[a-z_:]+\{(ropeway::)?LockRank::$rank\}" src | sed "s/{ropeway::/{/")
  [ "$declared" = "${name##*::}{LockRank::$rank}" ] || [ "$declared" = "$name{LockRank::$rank}" ] ||
    fail "docs/locking.md calls the lock of $rank $name; the sources have: ${declared:-none}"
done < "$work/rows"

# There are no others.
others=$(grep -rnE 'std::(mutex|recursive_mutex|shared_mutex|timed_mutex|lock_guard|unique_lock|scoped_lock|condition_variable)\b|pthread_(mutex|rwlock|spin)_' \
  src | grep -v '^src/base/mutex\.h:' || true)
[ -z "$others" ] || fail "locks that nobody checks; take those of base/mutex.h: $others"

if command -v clang++ > /dev/null; then
  compile() {  # compile STATEMENT: of a function that has a guarded field
    printf '#include "base/mutex.h"\nropeway::Mutex m{ropeway::LockRank::kHeap};\nint field RW_GUARDED_BY(m) = 0;\nvoid f() {\n%s\n}\n' "$1" \
      > "$work/guarded.cpp"
    clang++ -std=c++20 -fsyntax-only -Isrc -Wthread-safety -Werror=thread-safety "$work/guarded.cpp" 2> "$work/log"
  }
  compile 'ropeway::LockGuard lock(m); field = 1;' || fail "a field with its lock held: $(cat "$work/log")"
  ! compile 'field = 1;' || fail "clang does not see a field that is touched without its lock"
  ! compile 'ropeway::LockGuard lock(m); ropeway::LockGap gap(m); field = 1;' || fail "clang does not see that a gap lets go of the lock"
fi
exit "$failed"
