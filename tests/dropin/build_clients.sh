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
  [[ $source == /* ]] || source=$examples/$source
  if "${CXX:-g++}" -Wall -Wextra -Werror "$@" -I"$headers" "$source" -o "$work/client" \
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

# The lines by which clients of the transfer engines link.
engines=$(cd "$(dirname "$0")" && pwd)
libraries=(-lascendcl -lllm_datadist -lmetadef)
client "$engines/adxl_weak.cpp" -std=c++17 -Wno-address
libraries=(-lascendcl -lllm_datadist -lgraph_base -lgraph)
client "$engines/adxl_weak.cpp" -std=c++20 -O2 -Wno-address
libraries=(-lascendcl -lcann_hixl -lmetadef -lhccl)
client "$engines/hixl_mapping.cpp" -std=c++17
# One is a module of Python: its line names no library of AscendString, which comes with the engine's, and its std::string is the old one.
cat >"$work/load.cpp" <<'END'
#include <dlfcn.h>
#include <cstdio>
int main(int, char** argv) {
  void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* run = module != nullptr ? dlsym(module, "run") : nullptr;
  if (run != nullptr) return reinterpret_cast<int (*)()>(run)();
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}
END
if "${CXX:-g++}" "$work/load.cpp" -o "$work/load" -ldl &&
  "${CXX:-g++}" -Wall -Wextra -Werror -std=c++17 -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI=0 "-Dmain()=run()" -DMODULE='extern "C"' -I"$headers" \
    "$engines/hixl_mapping.cpp" -o "$work/module.so" -L"$folder" -lcann_hixl -lascendcl -lruntime -lhccl -lpthread >"$work/log" 2>&1 &&
  "$work/load" "$work/module.so" >>"$work/log" 2>&1; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED hixl_mapping.cpp as a module: $(tail -n 1 "$work/log")"
fi

libraries=(-lascendcl -lmsprofiler -lms_tools_ext -lmspti)
client self_profile.cpp -std=c++11
if "$work/client" "$work/profile" >"$work/log" 2>&1 && [ "$(cat "$work"/profile/PROF_*/device_0/task.csv | grep -c '^copy,aclrtMemcpyAsync,')" = 100 ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAILED self_profile's tables: $(tail -n 1 "$work/log")"
fi
# Each of them is opened by name, too, and finds what clients look up in it.
cat >"$work/open.cpp" <<'END'
#include <dlfcn.h>
#include <cstdio>
int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr && dlsym(library, argv[2]) != nullptr) return 0;
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}
END
"${CXX:-g++}" "$work/open.cpp" -o "$work/open" -ldl || exit 2
while read -r library symbol; do
  if "$work/open" "$folder/$library" "$symbol" 2>"$work/log" && "$work/open" "$library" "$symbol" 2>>"$work/log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $library has no $symbol: $(tail -n 1 "$work/log")"
  fi
done <<'END'
libmsprofiler.so aclprofInit
libmsprofiler.so aclprofWarmup
libmsprofiler.so aclprofSetConfig
libms_tools_ext.so mstxDomainCreateA
libms_tools_ext.so mstxMarkA
libmspti.so msptiSubscribe
libmspti.so msptiActivityFlushAll
libascendcl.so aclprofGetStepTimestamp
END

# By the folders of the toolkit's own layout, without the variables that compilers read.
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH
libraries=(-lascendcl)
for machine in x86_64 aarch64; do
  headers=$ASCEND_HOME_PATH/$machine-linux/include
  for folder in "$ASCEND_HOME_PATH/$machine-linux"/{lib64,devlib}; do client hello_copy.cpp -std=c++17; done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
