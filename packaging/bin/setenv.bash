# The same environment as ../set_env.sh, under the second name that build scripts look for. Source it from bash.
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../set_env.sh"
