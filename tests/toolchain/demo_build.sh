#!/usr/bin/env bash
# demo_build.sh: what `make demo` does in a fresh clone. It configures without the packages of the tests, builds the whole drop-in tree and
# nothing else, and no warning stops it, nor that a machine lacks what parts of it need. Nothing is compiled here: the build is asked what it
# would do.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  echo "FAILED $1"
  failed=1
}

recipe=$(make --no-print-directory --always-make --dry-run demo) || exit 2
preset=$(sed -n 's/^cmake --preset \([a-z]*\).*/\1/p' <<<"$recipe")
target=$(sed -n 's/^cmake --build .*--target \([a-z]*\).*/\1/p' <<<"$recipe")
if ! cmake --preset "$preset" -B "$work" -DROPEWAY_CANN_DIR="$work/cann" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON >"$work/log" 2>&1; then
  echo "FAILED make demo, preset '$preset', does not configure without GoogleTest:"
  grep -A 4 'CMake Error' "$work/log"
  exit 1
fi
ninja -C "$work" -t commands ${target:+"$target"} >"$work/steps" || fail "there is no target '$target'"
parts=(libascendcl.so libhccl.so ropeway)
# As far as this machine can build them.
for part in libropeway_cuda.so acl.abi3.so; do
  if grep -q "^build $part:" "$work/build.ninja"; then parts+=("$part"); fi
done
for part in "${parts[@]}"; do grep -q -- " -o $part " "$work/steps" || fail "make demo does not build $part"; done
grep -q -- "--install .* --prefix $work/cann" "$work/steps" || fail "make demo does not assemble the drop-in tree"
grep -qE '\.dir/(tests|examples)/' "$work/steps" && fail "make demo builds what it does not run"
grep -q -- -Werror "$work/build.ninja" && fail "a warning stops make demo"

# What a machine may lack is left out, and said; nothing stops.
cmake --preset "$preset" -B "$work/bare" -DROPEWAY_CANN_DIR="$work/cann" -DROPEWAY_UCX_INCLUDE=OFF -DROPEWAY_NVCC=OFF -DROPEWAY_PYTHON=/no/python3 \
  -DROPEWAY_GNUTLS=OFF -DROPEWAY_LIBDW_INCLUDE=OFF >"$work/log" 2>&1 || fail "it does not configure without UCX, CUDA, Python, GnuTLS and libdw"
for part in "ranks over UCX" "engine for NVIDIA GPUs" "Python module acl" "encryption between ranks" "file and line of calls"; do
  grep -qE -- "^-- +$part +no: .*[(/].*" "$work/log" || fail "it does not say why there is no $part"
done
grep -rq ucx_missing "$work/bare/CMakeFiles/hccl_objects.dir" || fail "without UCX nothing stands in its place"

[ "$failed" -ne 0 ] || echo "make demo: $(wc -l <"$work/steps") steps for $target of preset $preset"
exit $failed
