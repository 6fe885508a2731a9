#!/bin/bash
# Every library name of the drop-in tree: a program linked against it runs, from each folder that linkers look into, and all of them can be
# opened and closed a thousand times from several threads. The folders of older layouts lead to the same headers. One line per failure, then a
# closing count.
# Usage: library_names.sh TREE EXAMPLES_DIR
set -u

tree=${1:?usage: library_names.sh TREE EXAMPLES_DIR}
examples=${2:?usage: library_names.sh TREE EXAMPLES_DIR}
sources=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
unset CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH
export LD_LIBRARY_PATH=$tree/lib64
# check LABEL COMMAND...
check() {
  local label=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $label: $(tail -n 1 "$work/log")"
  fi
}

# What each name is asked for; those that are not here have the runtime in them.
declare -A symbols=([hccl]=HcclCommDestroy [hcomm]=HcclCommDestroy [c_sec]=memcpy_s [ascend_hal]=halHostRegister [drvdsmi_host]=dsmi_get_device_count
  [dcmi]=dcmi_init [runtime]=rtMemcpy [ascendsk]=aclskOptimize [platform]=aclplatformGetDeviceInfo [nnopbase]=aclCreateTensor
  [acl_op_compiler]=aclopCompile [acl_tdt_queue]=acltdtCreateQueue [acl_tdt_channel]=acltdtCreateChannel [ascend_dump]=acldumpRegCallback
  [msprofiler]=aclprofInit [ms_tools_ext]=mstxMarkA [mspti]=msptiSubscribe)
# C++ classes only, or plugins of ours.
others=' metadef graph graph_base cann_hixl llm_datadist ropeway_check ropeway_cuda ropeway_tls '

g++ -std=c++17 -I"$tree/include" -c "$examples/hello_copy.cpp" -o "$work/hello.o" || exit 2
g++ -std=c++17 "$sources/open_names.cpp" -o "$work/open_names" -ldl -pthread || exit 2
opened=()
for file in "$tree"/lib64/*.so; do
  name=$(basename "$file" .so)
  name=${name#lib}
  case $others in *" $name "*) [ -e "$tree/lib/lib$name.so" ] && continue ;; esac
  opened+=("lib$name.so:${symbols[$name]:-aclrtMemcpy}")
  for folder in lib64 lib lib64/stub; do
    # The name is asked for even where nothing is needed of it.
    check "linking -l$name in $folder" g++ "$work/hello.o" -o "$work/hello" -L"$tree/$folder" -Wl,--no-as-needed "-l$name" -lascendcl
  done
  check "running with lib$name.so" "$work/hello"
done
for name in metadef graph graph_base; do check "linking -l$name" g++ "$work/hello.o" -o "$work/hello" -L"$tree/lib64/stub" "-l$name" -lascendcl; done
check "opening ${#opened[@]} names" "$work/open_names" "${opened[@]}"

# Headers by the folders of older layouts and of the vendor's own projects.
while read -r header folders; do
  echo "#include \"$header\"" >"$work/unit.cpp"
  flags=()
  for folder in $folders; do flags+=("-I$tree/$folder"); done
  check "$header in $folders" g++ -std=c++17 -Wall -Werror -fsyntax-only "${flags[@]}" "$work/unit.cpp"
done <<'END'
acl/acl.h runtime/include
acl/acl.h acllib/include
acl/acl.h x86_64-linux/include
runtime/mem.h include
runtime/rt.h include/experiment include
runtime/mem.h pkg_inc/runtime include
runtime/rt_external_mem.h pkg_inc include
runtime/runtime/rt.h pkg_inc include
driver/ascend_hal.h include
ascend_hal.h include/driver include
securec.h include
dcmi_interface_api.h include
acl/super_kernel.h include
END

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 100 ]
