#!/usr/bin/env bash
# cuda_methods.sh: compiles and runs cuda_methods.cu on the first GPU, for those who tune the CUDA engine.
set -euo pipefail

command -v nvcc >/dev/null || { echo "cuda_methods.sh: nvcc is not on the PATH" >&2; exit 2; }
source_root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -O2 -std=c++20 -gencode arch=compute_90,code=sm_90 -o "$work/cuda_methods" "$source_root/bench/cuda_methods.cu" -lcuda
"$work/cuda_methods"
