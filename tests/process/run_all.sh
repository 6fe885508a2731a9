#!/usr/bin/env bash
# run_all.sh BINDIR [LIBDIR]: runs the program of every source file in this folder and says how many were good. A program
# that was not built counts as failed. LIBDIR goes in front of LD_LIBRARY_PATH.
set -u
bindir=${1:?usage: run_all.sh BINDIR [LIBDIR]}
if [ $# -ge 2 ]; then
  export LD_LIBRARY_PATH="$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export ROPEWAY_TEST_LIBRARY="${ROPEWAY_TEST_LIBRARY:-$2/libascendcl.so}"
fi

passed=0
failed=0
for source in "$(dirname "$0")"/*.cpp; do
  name=$(basename "$source" .cpp)
  if output=$("$bindir/process_$name" 2>&1); then
    passed=$((passed + 1))
    echo "good    $name"
  else
    status=$?
    failed=$((failed + 1))
    echo "FAILED  $name (status $status)"
    printf '%s\n' "$output" | sed 's/^/        /'
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
