#!/usr/bin/env bash
# coverage.sh [--check]: writes docs/coverage.md, the list of all public functions and what each does here: works, constant (one answer for
# whatever is asked), refuses (answers that the feature is not there), or absent. With --check nothing is written, and a file that does not
# say what the code says is an error; closes with "N passed, M failed", counted in functions.
#
# A function works when a .cpp file of src/api, src/hccl or src/securec defines it, and refuses when that file is in src/api/refused, or a table of
# refused calls has a row for it; rows CONSTANT of such a table are constants. A definition is a line that starts with a return type in column 0,
# has the name and "(", and reaches "{" before ";".
set -euo pipefail
export LC_ALL=C  # the order of headers is the page's
cd "$(dirname "$0")/.."

names_files="tests/headers/public_functions.txt tests/headers/securec_functions.txt tests/headers/hccl_functions.txt"
document=docs/coverage.md
older_names="rtDeviceGetBareTgid rtGetDeviceInfo rtSetIpcMemorySuperPodPid rtIpcSetMemoryName rtIpcDestroyMemoryName
rtIpcOpenMemory rtIpcCloseMemory rtEnableP2P rtDisableP2P rtGetLogicDevIdByUserDevId rtMemcpyAsyncWithoutCheckKind"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "NAME FILE [constant]" for every function that is defined at column 0, or by a row of a table.
definitions() {
  find src/api src/hccl src/securec -name '*.cpp' | LC_ALL=C sort | xargs awk -v names="$names_files $work/older" '
    BEGIN {
      count = split(names, file_of, " ")
      for (i = 1; i <= count; ++i) while ((getline line < file_of[i]) > 0) public[line] = 1
    }
    function settle() { if (name != "") print name, file; name = "" }
    FNR == 1 { name = "" }
    name == "" && match($0, /^[A-Za-z_][A-Za-z0-9_ "*&:]*[ *&][A-Za-z0-9_]+\(/) {
      head = substr($0, RSTART, RLENGTH - 1)
      if (head !~ /^(return|using|typedef|else|case|static)[ (]/) {
        name = head
        sub(/^.*[ *&]/, "", name)
        file = FILENAME
        if (!(name in public)) name = ""
      }
    }
    name != "" {
      brace = index($0, "{")
      semicolon = index($0, ";")
      if (brace > 0 && (semicolon == 0 || brace < semicolon)) settle()
      else if (semicolon > 0) name = ""
    }' | LC_ALL=C sort -u
  # Functions of a class are known by their names in the library, and defined as Class::Function.
  sed -n '/^_Z/p' $names_files | while read -r name; do
    function=$(c++filt "$name" | sed -E 's/\(.*//; s/^.*::([^:]*::[^:]*)$/\1/')
    grep -rlE --include='*.cpp' "^[A-Za-z].* \*?&?$function\\(" src/api src/hccl | sed "s|^|$name |"
  done
  # The call is what stands in front of the parameters, which may come on the next line.
  for table in src/api/refused/*.inc src/hccl/api/refused.inc; do
    sed -nE "s|^REFUSED[A-Z_]*\\(([^(]*[ *])?([A-Za-z0-9_]+),( \\(.*)?\$|\\2 $table|p
      s|^CONSTANT\\([^(]*[ *]([A-Za-z0-9_]+), \\(.*|\\1 $table constant|p" "$table"
  done
}

# "NAME<tab>HEADER<tab>CHAPTER" for every declaration, in the order of the headers. The first sentence of a "---- ----"
# comment names the chapter.
declarations() {
  awk '
    FNR == 1 { header = FILENAME; sub(/^include\//, "", header); chapter = "" }
    /^\/\* ---- .* ---- \*\// {
      chapter = $0
      sub(/^\/\* ---- */, "", chapter)
      sub(/ *---- \*\/.*$/, "", chapter)
      sub(/[.:].*$/, "", chapter)
    }
    /^RW_(WEAK_)?API / && match($0, /[A-Za-z0-9_]+\(/) {
      print substr($0, RSTART, RLENGTH - 1) "\t" header "\t" chapter
    }' include/acl/*.h include/aclnn/*.h include/driver/*.h include/runtime/*.h include/mspti/*.h include/mstx/*.h include/hccl/*.h \
    include/hcomm/*.h include/*.h
}

render() {
  tr ' ' '\n' <<<"$older_names" >"$work/older"
  definitions >"$work/definitions"
  declarations >"$work/declarations"
  awk -v definitions="$work/definitions" -v declarations="$work/declarations" -v older="$work/older" '
    function state_of(name) {
      if (!(name in defined)) return "absent"
      if (name in constant) return "constant"
      return defined[name] ~ /\/refused[.\/]/ ? "refuses" : "works"
    }
    # Whose a function is, by its name.
    function library_of(name) {
      if (name ~ /^(acl|Acl)/) return "acl"
      if (name ~ /^(mspti|mstx)/) return "mspti, mstx"
      if (name ~ /^rt[A-Z]/) return "rt"
      if (name ~ /^(hal|drv)[A-Z]/) return "hal"
      if (name ~ /^(dsmi|dcmi)_/) return "dsmi, dcmi"
      if (name ~ /_(s|error|sOpt[A-Za-z]*)$/) return "securec"
      return "hccl"
    }
    function add(title, name,   state, where) {
      state = state_of(name)
      ++count[state, library_of(name)]
      ++count[state, "all"]
      if (!(title in rows)) titles[++chapters] = title
      ++in_chapter[title, state]
      where = name in defined ? "`" defined[name] "`" : ""
      rows[title] = rows[title] sprintf("| `%s` | %s | %s |\n", name, state, where)
    }
    function tally(title,   i, text) {
      for (i = 1; i <= 4; ++i) {
        if (!((title, states[i]) in in_chapter)) continue
        text = text (text == "" ? "" : ", ") in_chapter[title, states[i]] " " states[i]
      }
      return text
    }
    BEGIN {
      while ((getline line < definitions) > 0) {
        part[3] = ""
        split(line, part, " ")
        if (part[1] in defined) {
          printf "coverage.sh: %s is defined in %s and in %s\n", part[1], defined[part[1]], part[2] > "/dev/stderr"
          twice = 1
        }
        defined[part[1]] = part[2]
        if (part[3] != "") constant[part[1]] = 1
      }
    }
    NF { wanted[$1] = 1 }
    END {
      if (twice) exit 2
      while ((getline line < declarations) > 0) {
        split(line, part, "\t")
        if (!(part[1] in wanted)) continue
        delete wanted[part[1]]
        add("`" part[2] "`" (part[3] == "" ? "" : ": " part[3]), part[1])
      }
      for (name in wanted) left[++lefts] = name
      for (i = 1; i <= lefts; ++i) for (k = i + 1; k <= lefts; ++k)
        if (left[k] < left[i]) { swap = left[i]; left[i] = left[k]; left[k] = swap }
      for (i = 1; i <= lefts; ++i) add("Declared in no header", left[i])
      while ((getline line < older) > 0) if (line != "") add("Older names, looked up in the library by clients", line)

      print "# Coverage"
      print ""
      print "What every public function does here. Written by `tools/coverage.sh` from the code: do not edit."
      print ""
      print "- **works**: does what the original does, with its codes and its order of checks."
      print "- **constant**: one answer for whatever is asked: a setting that decides nothing here, or what there is to say about something that"
      print "  cannot be there."
      print "- **refuses**: makes the argument checks of the original, then answers that the feature is not there"
      print "  (207000; 107043 for device variables, 100011 for subscriptions to models, HCCL_E_NOT_SUPPORT, DRV_ERROR_NOT_SUPPORT, -8255 by dcmi), with a text that says what to use instead. Functions that return"
      print "  a pointer return NULL."
      print "- **absent**: not defined; a program that needs it does not link."
      print ""
      print "| | works | constant | refuses | absent |"
      print "|---|---:|---:|---:|---:|"
      split("works constant refuses absent", states, " ")
      libraries = split("acl;hccl;rt;hal;dsmi, dcmi;securec;mspti, mstx;all", library, ";")
      for (k = 1; k <= libraries; ++k) {
        printf "| %s |", library[k]
        for (i = 1; i <= 4; ++i) printf " %d |", count[states[i], library[k]]
        print ""
      }
      for (i = 1; i <= chapters; ++i) {
        title = titles[i]
        printf "\n## %s\n\n", title
        printf "%s.\n\n| function | | file |\n|---|---|---|\n%s", tally(title), rows[title]
      }
    }' $names_files
}

render >"$work/coverage.md"
if [ "${1:-}" != --check ]; then
  mkdir -p docs
  cp "$work/coverage.md" "$document"
  sed -n '/^| | works/,/^$/p' "$document"
  exit 0
fi

actual=$document
[ -f "$actual" ] || { actual=$work/none && : >"$actual"; }
rows() { grep '^| `' "$1" | LC_ALL=C sort || true; }
rows "$work/coverage.md" >"$work/expected_rows"
rows "$actual" >"$work/actual_rows"
passed=$(LC_ALL=C comm -12 "$work/expected_rows" "$work/actual_rows" | wc -l)
failed=$(($(wc -l <"$work/expected_rows") - passed))
if ! cmp -s "$work/coverage.md" "$actual"; then
  diff -U 0 "$actual" "$work/coverage.md" | sed 1,2d | grep '^[-+]' | head -20 || true
  echo "$document is out of date: run tools/coverage.sh and commit the result"
  [ "$failed" -gt 0 ] || failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
