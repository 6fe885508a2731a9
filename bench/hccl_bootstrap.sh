#!/usr/bin/env bash
# hccl_bootstrap.sh BUILD [LARGEST]: how communicators grow from 2 to 64 (or LARGEST) ranks; prints the table of docs/scale.md.
set -euo pipefail
build=${1:?usage: hccl_bootstrap.sh BUILD [LARGEST]}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(dirname -- "${BASH_SOURCE[0]}")/build_rank_program.sh" "$build" hccl_bootstrap "$folder"
"$folder/hccl_bootstrap" "$@"
