#!/usr/bin/env bash
# hccl_coll.sh BUILD [RANKS...]: microseconds of collectives between processes of this host, for 2, 4 and 8 ranks, or as many as are named.
set -euo pipefail
build=${1:?usage: hccl_coll.sh BUILD [RANKS...]}
shift
[ $# -gt 0 ] || set -- 2 4 8
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname -- "${BASH_SOURCE[0]}")/build_rank_program.sh" "$build" hccl_coll "$folder"
for ranks in "$@"; do
  mkdir "$folder/$ranks"
  for ((rank = 1; rank < ranks; ++rank)); do "$folder/hccl_coll" $rank "$ranks" "$folder/$ranks" & done
  "$folder/hccl_coll" 0 "$ranks" "$folder/$ranks"
  wait
done
