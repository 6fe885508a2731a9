#!/usr/bin/env bash
# run_all.sh BINDIR [LIBDIR]: runs the program of every source file in this folder and says how many were good. A program
# that was not built counts as failed; one that cannot run here exits with 77, says why and is counted. LIBDIR goes in front of
# LD_LIBRARY_PATH. ROPEWAY_PROCESS_PART=sharing runs the programs about several processes only, =single the others.
set -u
bindir=${1:?usage: run_all.sh BINDIR [LIBDIR]}
if [ $# -ge 2 ]; then
  export LD_LIBRARY_PATH="$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export ROPEWAY_TEST_LIBRARY="${ROPEWAY_TEST_LIBRARY:-$2/libascendcl.so}"
fi

passed=0
failed=0
skipped=0
for source in "$(dirname "$0")"/*.cpp; do
  name=$(basename "$source" .cpp)
  case $name in ipc_*|shared_*) part=sharing ;; *) part=single ;; esac
  [ "${ROPEWAY_PROCESS_PART:-$part}" = "$part" ] || continue
  output=$("$bindir/process_$name" 2>&1)
  status=$?
  case $status in
    0) passed=$((passed + 1)); echo "good    $name"; continue ;;
    77) skipped=$((skipped + 1)); echo "SKIPPED $name" ;;
    *) failed=$((failed + 1)); echo "FAILED  $name (status $status)" ;;
  esac
  printf '%s\n' "$output" | sed 's/^/        /'
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
