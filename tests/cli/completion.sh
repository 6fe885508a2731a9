#!/bin/bash
# What `ropeway completion` makes bash complete: commands, the flags of each, and the words that a setting takes.
# Usage: completion.sh ROPEWAY
set -u

ropeway=${1:?usage: completion.sh ROPEWAY}
eval "$("$ropeway" completion)" || exit 1
failed=0

# expect WORDS-SO-FAR... : COMPLETIONS, in any order; the last word is the one to complete.
expect() {
  local expected said
  COMP_WORDS=(ropeway)
  while [ "$1" != : ]; do
    COMP_WORDS+=("$1")
    shift
  done
  shift
  expected=$(printf '%s\n' "$@" | sort)
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _ropeway ropeway "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
  said=$(printf '%s\n' "${COMPREPLY[@]}" | sort)
  [ "$said" = "$expected" ] && return
  failed=$((failed + 1))
  echo "FAILED ${COMP_WORDS[*]}: $said, expected $expected"
}

expect e : env exec explore
expect exec --de : --devices --device-memory
expect exec --engine '' : auto cpu cuda
expect exec --schedule l : latest
expect rep : report
expect ra : ranks
expect ranks --p : --port
expect report --fi : --findings
expect exec --engine cpu --hccl : --hccl-link --hccl-link-timeout --hccl-tls
expect doctor --he : --help
expect exec --lanes '' : ''
expect exec -- ./pro : ''

# zsh has the same through its bash emulation; what begins as the word does is chosen by zsh itself.
if command -v zsh >/dev/null; then
  said=$(zsh -fc 'eval "$("$0" completion zsh)"; setopt ksharrays; COMP_WORDS=(ropeway exec --engine ""); COMP_CWORD=3
    _ropeway ropeway "" --engine; echo ${COMPREPLY[@]}' "$ropeway" 2>&1)
  [ "$said" = "auto cpu cuda" ] || { failed=$((failed + 1)) && echo "FAILED in zsh: $said"; }
fi
[ "$failed" -eq 0 ] && echo "completion is complete"
