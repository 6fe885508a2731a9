#!/usr/bin/env bash
# check_layers.sh [ROOT]: fails on an #include that goes up. The rooms of src/ form a list, and a file includes its own room
# and the rooms below; what stands outside (command, benchmarks, examples, conformance tests) knows the public headers only.
# Prints each offence and closes with "N passed, M failed", counted in files.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

awk_program='
BEGIN {
  split("base ipc engine stream copy memory runtime api", names, " ")
  for (i in names) rank[names[i]] = i + 0
  # watch hangs beside the list: it sees tasks, so it may look at what runs them, and only the two top rooms start it.
  split("watch stream engine base", names, " ")
  for (i in names) watch_may[names[i]] = 1
  # No more than a header each, and the same for every library.
  for_all["base/race_detector.h"] = for_all["base/own_thread.h"] = 1
  watched_by["watch"] = watched_by["api"] = watched_by["runtime"] = 1
}
function say(why) { printf "%s:%d: includes \"%s\": %s\n", file, FNR, target, why; bad[file] = 1 }

# The room that a quoted include of a src file lands in; empty when it is no room of src.
function room_of(path,   parts) {
  sub(/^src\//, "", path)
  split(path, parts, "/")
  return (parts[1] in rank || parts[1] == "watch") && path ~ /\// ? parts[1] : ""
}
function check_src(   mine, theirs) {
  mine = room_of(file)
  theirs = room_of(target)
  if (target ~ /\.\.\//) return say("write the path from src/, not a relative one")
  if (target ~ /^(cli|bench|examples|tests)\//) return say("the library knows nothing outside src/ and include/")
  if (file ~ /^src\/hccl\//) { if (theirs != "" && !(target in for_all)) say("hccl stands on the public headers"); return }
  if (target ~ /^hccl\//) return say("hccl is a library on top")
  if (mine == "" || theirs == "") return
  if (theirs == "watch") { if (!(mine in watched_by)) say(mine " may not include watch") }
  else if (mine == "watch") { if (!(theirs in watch_may)) say("watch may include only stream, engine and base") }
  else if (rank[theirs] > rank[mine]) say(theirs " is above " mine)
}
function check_outside(folder, own,   local) {
  if (target ~ /^(acl|hccl|hcomm|ropeway)\//) return
  if (target !~ /\// && system("test -e include/" target) == 0) return  # the flat headers of HCCL
  if (target ~ /\.\.\//) return say("write the path from the root, not a relative one")
  if (own != "" && target ~ own) return
  local = file
  sub(/[^\/]*$/, "", local)
  if (system("test -e \"" local target "\" -o -e \"" folder "/" target "\"") == 0) return
  say("only acl/, hccl/, ropeway/ and the own folder are open to " folder)
}
FNR == 1 { file = FILENAME; sub(/^\.\//, "", file); files[file] = 1 }
match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/) {
  target = $0
  sub(/^[^"]*"/, "", target)
  sub(/".*$/, "", target)
  if (file ~ /^src\//) check_src()
  else if (file ~ /^(cli|bench)\//) check_outside("cli", "^(cli|bench)/")  # one room: the command measures, too
  else if (file ~ /^examples\//) check_outside("examples", "^examples/")
  else if (file ~ /^tests\/conformance\//) check_outside("tests/conformance", "^(tests/)?(conformance|support)/")
}
# Angle brackets reach the same files when the folder is on the include path.
match($0, /^[ \t]*#[ \t]*include[ \t]*<[^>]+>/) {
  target = $0
  sub(/^[^<]*</, "", target)
  sub(/>.*$/, "", target)
  if (target ~ /^(src\/|tests\/|cli\/|bench\/)/ || room_of(target) != "") say("use quotes for files of this project")
}
END {
  for (f in files) total++
  for (f in bad) failed++
  printf "%d passed, %d failed\n", total - failed, failed
  exit failed > 0
}
'

folders=()
for folder in src cli bench examples tests/conformance; do
  [ ! -d "$folder" ] || folders+=("$folder")
done
files=()
if [ "${#folders[@]}" -gt 0 ]; then
  mapfile -d '' files < <(find "${folders[@]}" -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.c' \) -print0 | sort -z)
fi
if [ "${#files[@]}" -eq 0 ]; then
  echo "0 passed, 0 failed"
  exit 0
fi
awk "$awk_program" "${files[@]}"
