#!/usr/bin/env bash
# tidy.sh [--sample|FILE...]: clang-tidy with the list of .clang-tidy over files of src/, over all of them (about six minutes on two cores), or
# over every thirty-second. The build of the preset `asan`, which is clang's, says how each file is compiled, and has its precompiled headers.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy > /dev/null || { echo "tidy.sh: needs clang-tidy: apt-get install clang-tidy" >&2; exit 77; }
[ -e build/asan/compile_commands.json ] || { echo "tidy.sh: make test-asan first" >&2; exit 2; }
# How each file would be compiled by itself: most are compiled many as one.
mkdir -p build/asan/tidy
python3 - <<'EOF'
import json, re
files = []
for one in json.load(open("build/asan/compile_commands.json")):
    parts = re.findall(r'#include "(.*)"', open(one["file"]).read()) if "/Unity/" in one["file"] else [one["file"]]
    files += [dict(one, file=part, command=one["command"].replace(one["file"], part)) for part in parts]
json.dump(files, open("build/asan/tidy/compile_commands.json", "w"))
EOF
if [ "${1:---sample}" = --sample ]; then
  # Those that this machine compiles.
  mapfile -t files < <(python3 -c 'import json, sys
print(*sorted({one["file"] for one in json.load(sys.stdin) if one["file"].startswith(sys.argv[1])}), sep="\n")' \
    "$PWD/src/" < build/asan/tidy/compile_commands.json)
  [ $# -eq 0 ] || mapfile -t files < <(printf '%s\n' "${files[@]}" | awk 'NR % 32 == 1')
  set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" clang-tidy -p build/asan/tidy --quiet
