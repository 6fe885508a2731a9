#!/bin/bash
# What set_env.sh tells a shell, wherever the tree was put: in bash, dash and zsh, as far as they are installed, it points at the tree
# that it lies in, or says that it cannot. `ropeway env` and `ropeway exec` say the same. Then what CMake finds after it.
# One line per failure, then a closing count.
# Usage: environment.sh TREE
set -u

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
tree=$(CDPATH= cd -- "${1:?usage: environment.sh TREE}" && pwd -P) || exit 2
copy="$work/a copy/of the tree"
mkdir -p "$copy" && cp -a "$tree/." "$copy" || exit 2
copy=$(cd "$copy" && pwd -P)
passed=0
failed=0

# same WHAT ACTUAL WANTED
same() {
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1:"
    diff <(echo "$3") <(echo "$2") | sed -n 's/^</  wanted:/p; s/^>/  got:   /p'
  fi
}

# bare COMMAND...: with an environment that says nothing about any toolkit.
bare() { env -i PATH="$PATH" HOME="$work" ROOT="$root" "$@"; }

# What a shell adds by itself is no difference.
variables() { grep -vE '^(_|PWD|OLDPWD|SHLVL|ROOT)=' | sort; }

# in_shell COMMANDS: the environment after them, from a folder that is not the tree.
in_shell() { (cd / && bare "${shell[@]}" -c "$1; env" 2>&1) | variables; }

check_shell() {
  local told
  told=$(in_shell 'eval "$("$ROOT/bin/ropeway" env)"')
  same "$name: ASCEND_HOME_PATH of $root" "$(grep ^ASCEND_HOME_PATH= <<<"$told")" "ASCEND_HOME_PATH=$root"
  same "$name: PYTHONPATH of $root" "$(grep ^PYTHONPATH= <<<"$told")" "PYTHONPATH=$root/python/site-packages"
  same "$name: set_env.sh in $root" "$(in_shell '. "$ROOT/set_env.sh"')" "$told"
  same "$name: set_env.sh twice in $root" "$(in_shell 'set -eu; . "$ROOT/set_env.sh"; . "$ROOT/set_env.sh"')" "$told"
  same "$name: set_env.sh in $root by a relative name" "$(in_shell 'cd "$ROOT/include"; . ../set_env.sh')" "$told"
  same "$name: set_env.sh in $root by a link" "$(in_shell 'ln -sf "$ROOT/set_env.sh" "$HOME/link"; . "$HOME/link"')" "$told"
  same "$name: set_env.sh in $root in a subshell" "$(in_shell '(. "$ROOT/set_env.sh"; env); exit')" "$told"
  same "$name: set_env.sh in $root keeps the chip that was chosen" \
    "$(in_shell 'SOC_VERSION=ascend310p3; . "$ROOT/set_env.sh"' | grep ^SOC_VERSION=)" SOC_VERSION=ascend310p3
  # As text it comes from nowhere, and says so.
  same "$name: set_env.sh of $root as text" \
    "$(in_shell 'eval "$(cat "$ROOT/set_env.sh")" || echo failed' | grep -oE '^(failed|set_env.sh:|ASCEND_HOME_PATH)')" \
    $'failed\nset_env.sh:'
}

for name in bash dash zsh; do
  if ! command -v $name >/dev/null; then
    echo "NOT TESTED: $name is not installed"
    continue
  fi
  shell=($name)
  [ $name != zsh ] || shell+=(-f)
  for root in "$tree" "$copy"; do check_shell; done
done

shell=(bash)
for root in "$tree" "$copy"; do
  told=$(in_shell '. "$ROOT/set_env.sh"')
  same "ropeway exec of $root" "$(bare "$root/bin/ropeway" exec -- env | variables)" "$told"
  same "setenv.bash of $root" "$(in_shell '. "$ROOT/bin/setenv.bash"')" "$told"
done

# Each of CMake's two variables is enough, in the folders that it has on every Linux.
mkdir "$work/client"
cat >"$work/client/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES CXX)
function(look variable)
  set(other CMAKE_PREFIX_PATH CMAKE_LIBRARY_PATH)
  list(REMOVE_ITEM other ${variable})
  set(kept "$ENV{${other}}")
  set(ENV{${other}} "")
  foreach(name ascendcl acl_rt hccl)
    find_library(${variable}_${name} ${name} NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
    file(APPEND ${CMAKE_BINARY_DIR}/found "${variable}: ${${variable}_${name}}\n")
  endforeach()
  set(ENV{${other}} "${kept}")
endfunction()
look(CMAKE_PREFIX_PATH)
look(CMAKE_LIBRARY_PATH)
find_path(HEADERS acl/acl.h NO_SYSTEM_ENVIRONMENT_PATH NO_CMAKE_SYSTEM_PATH)
file(APPEND ${CMAKE_BINARY_DIR}/found "headers: ${HEADERS}\n")
END
for root in "$tree" "$copy"; do
  rm -rf "$work/build" && mkdir "$work/build"
  in_shell '. "$ROOT/set_env.sh" && cmake -S "$HOME/client" -B "$HOME/build"' >"$work/log"
  wanted=""
  for variable in CMAKE_PREFIX_PATH CMAKE_LIBRARY_PATH; do
    for library in ascendcl acl_rt hccl; do wanted+="$variable: $root/lib/lib$library.so"$'\n'; done
  done
  # Where CMake looks into lib64, that one is found first.
  same "what CMake finds in $root ($(grep -m 1 Error "$work/log"))" "$(sed "s|/lib64/|/lib/|" "$work/build/found" 2>&1)" "${wanted}headers: $root/include"
done

# The folders by machine.
version=$(sed -n 's/^Version=//p' "$tree/share/info/runtime/version.info")
for machine in x86_64 aarch64; do
  info="$tree/$machine-linux/ascend_toolkit_install.info"
  same "$info" "$(sed -n 's/^version=//p' "$info" 2>&1)" "$version"
done
same "the folder of ASCEND_OPP_PATH" "$(sed -n 's/^Version=//p' "$tree/opp/version.info" 2>&1)" "$version"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
