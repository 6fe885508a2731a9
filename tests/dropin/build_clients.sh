#!/bin/bash
# Builds examples the way a client does, with nothing but the drop-in tree and its set_env.sh, and runs them. Each is linked by
# every name that clients use for its library. One line per failure, then a closing count.
# Usage: build_clients.sh TREE EXAMPLES_DIR
set -u

tree=${1:?usage: build_clients.sh TREE EXAMPLES_DIR}
examples=${2:?usage: build_clients.sh TREE EXAMPLES_DIR}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH
# shellcheck source=/dev/null
source "$tree/set_env.sh" || exit 2

# client SOURCE FLAG...: builds and runs one program.
headers=$ASCEND_HOME_PATH/include
folder=$ASCEND_HOME_PATH/lib64
client() {
  local source=$1
  shift
  if "${CXX:-g++}" -Wall -Wextra -Werror "$@" -I"$headers" "$examples/$source" -o "$work/client" \
    -L"$folder" "${libraries[@]}" >"$work/log" 2>&1 && "$work/client" >>"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $source $* -I$headers -L$folder ${libraries[*]}: $(tail -n 1 "$work/log")"
  fi
}

for name in ascendcl acl_rt; do
  libraries=(-l$name)
  client hello_copy.cpp -std=c++11
done
for name in hccl hcomm; do
  libraries=(-l$name -lascendcl)
  client hccl_memcpy.cpp -std=c++14
  client hccl_memcpy.cpp -std=c++20 -O2
  client hccl_memcpy.cpp -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=0
done

# By the folders of the toolkit's own layout, without the variables that compilers read.
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH
libraries=(-lascendcl)
for machine in x86_64 aarch64; do
  headers=$ASCEND_HOME_PATH/$machine-linux/include
  for folder in "$ASCEND_HOME_PATH/$machine-linux"/{lib64,devlib}; do client hello_copy.cpp -std=c++17; done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
