#!/bin/bash
# Runs the program of every example on one engine; they check their own bytes. One that was not built counts as failed.
# Usage: run_examples.sh EXAMPLES_DIR BIN_DIR ENGINE
set -u

examples=${1:?usage: run_examples.sh EXAMPLES_DIR BIN_DIR ENGINE}
programs=${2:?usage: run_examples.sh EXAMPLES_DIR BIN_DIR ENGINE}
export ROPEWAY_ENGINE=${3:?usage: run_examples.sh EXAMPLES_DIR BIN_DIR ENGINE}
passed=0
failed=0

for source in "$examples"/*.c "$examples"/*.cpp; do
  name=$(basename "${source%.*}")
  arguments=()
  [ "$name" = two_streams ] && arguments=($((16 << 20)))  # up to 1 GiB otherwise
  output=$("$programs/$name" "${arguments[@]}" 2>&1)
  status=$?
  if [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name (status $status)"
    printf '%s\n' "$output" | sed 's/^/  /'
  fi
done
echo "$passed passed, $failed failed on $ROPEWAY_ENGINE"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
