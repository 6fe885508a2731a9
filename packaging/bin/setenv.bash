# The same environment as ../set_env.sh, under the second name that build scripts look for. Source it from bash.
source "$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/set_env.sh"
