#!/usr/bin/env bash
# examples.sh ROPEWAY EXAMPLES_DIR BIN_DIR: nothing wrong is found in the examples, nor in `ropeway demo`. Tips may be.
set -u
usage="usage: examples.sh ROPEWAY EXAMPLES_DIR BIN_DIR"
ropeway=${1:?$usage}
examples=${2:?$usage}
programs=${3:?$usage}
passed=0
failed=0

check() {  # check NAME COMMAND...
  local name=$1 output
  shift
  if output=$("$ropeway" check -- "$@" 2>&1) && grep -q '^ropeway check: 0 errors' <<< "$output"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $name"
    printf '%s\n' "$output" | tail -40 | sed 's/^/  /'
  fi
}

for source in "$examples"/*.c "$examples"/*.cpp; do
  name=$(basename "${source%.*}")
  arguments=()
  [ "$name" = two_streams ] && arguments=($((16 << 20)))  # up to 1 GiB otherwise
  check "$name" "$programs/$name" "${arguments[@]}"
done
check demo "$ropeway" demo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 1 ]
