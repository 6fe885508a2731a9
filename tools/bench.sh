#!/usr/bin/env bash
# bench.sh FOLDER [FLAGS...]: runs every benchmark program of a build, handing the flags to each, and keeps the JSON
# results in FOLDER/results for comparison with a later run.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder/results"
found=0
for program in "$folder"/*_bench; do
  [ -x "$program" ] || continue
  found=1
  name=$(basename "$program")
  echo "== $name"
  "$program" --benchmark_out="$folder/results/$name.json" --benchmark_out_format=json "$@"
done
if [ "$found" = 0 ]; then
  echo "bench.sh: no benchmark programs in $folder" >&2
  exit 1
fi
