# Source this file: it points builds and programs at the Ropeway tree that it lies in. Works in bash, zsh, dash and other plain
# shells, from any folder, under `set -eu`, and any number of times.

# Where this file lies. bash and zsh tell. Other shells do not, but they hold a file open while they read it: it is the newest file of
# that name among the descriptors of this very shell.
_ropeway_file=""
if [ -n "${BASH_VERSION-}" ]; then
  _ropeway_file="${BASH_SOURCE-}"
elif [ -n "${ZSH_VERSION-}" ]; then
  eval '_ropeway_file="${(%):-%x}"'
elif { read -r _ropeway_pid _ropeway_rest </proc/self/stat; } 2>/dev/null; then
  for _ropeway_open in "/proc/${_ropeway_pid}/fd"/*; do
    _ropeway_open="$(readlink -- "${_ropeway_open}")" || continue
    case "${_ropeway_open}" in */set_env.sh) _ropeway_file="${_ropeway_open}" ;; esac
  done
  unset _ropeway_pid _ropeway_rest _ropeway_open
fi
_ropeway_root=""
if [ -n "${_ropeway_file}" ]; then
  _ropeway_root="$(dirname -- "$(readlink -f -- "${_ropeway_file}")")" || _ropeway_root=""
fi

# _ropeway_prepend VARIABLE DIRECTORY: puts the directory first in a colon list, unless the list has it already.
_ropeway_prepend() {
  eval "_ropeway_list=\"\${$1-}\""
  case ":${_ropeway_list}:" in
    *":$2:"*) ;;
    *) _ropeway_list="$2${_ropeway_list:+:${_ropeway_list}}" ;;
  esac
  eval "export $1=\"\${_ropeway_list}\""
}

if [ -n "${_ropeway_root}" ] && [ -e "${_ropeway_root}/lib64/libascendcl.so" ]; then
  export ASCEND_HOME_PATH="${_ropeway_root}"
  export ASCEND_TOOLKIT_HOME="${_ropeway_root}"
  export ASCEND_INSTALL_PATH="${_ropeway_root}"
  export ASCEND_ROOT="${_ropeway_root}"
  export CANN_INSTALL_DIR="${_ropeway_root}"
  export ASCEND_OPP_PATH="${_ropeway_root}/opp"
  export SOC_VERSION="${SOC_VERSION:-${ROPEWAY_SOC:-Ascend910B1}}"
  export ASCENDC_CMAKE_DIR="${_ropeway_root}/tikcpp/ascendc_kernel_cmake"
  _ropeway_prepend PATH "${_ropeway_root}/bin"
  _ropeway_prepend LD_LIBRARY_PATH "${_ropeway_root}/lib64"
  _ropeway_prepend LIBRARY_PATH "${_ropeway_root}/lib64"
  _ropeway_prepend CPATH "${_ropeway_root}/include"
  _ropeway_prepend C_INCLUDE_PATH "${_ropeway_root}/include"
  _ropeway_prepend CPLUS_INCLUDE_PATH "${_ropeway_root}/include"
  _ropeway_prepend CMAKE_PREFIX_PATH "${_ropeway_root}"
  _ropeway_prepend PKG_CONFIG_PATH "${_ropeway_root}/share/pkgconfig"
  _ropeway_prepend CMAKE_LIBRARY_PATH "${_ropeway_root}/lib64"
  _ropeway_prepend PYTHONPATH "${_ropeway_root}/python/site-packages"
  unset _ropeway_file _ropeway_root _ropeway_list
  unset -f _ropeway_prepend
else
  if [ -n "${_ropeway_root}" ]; then
    echo "set_env.sh: no lib64/libascendcl.so in ${_ropeway_root}: the tree is not complete, install it again" >&2
  else
    echo "set_env.sh: this shell does not say where the file lies that it reads; nothing is set. Source it from bash or zsh, or say:" \
         "eval \"\$(TREE/bin/ropeway env)\"" >&2
  fi
  unset _ropeway_file _ropeway_root
  unset -f _ropeway_prepend
  false
fi
