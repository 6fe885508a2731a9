#include "cli/rank_start.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "cli/launch.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ropeway::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::runtime_error Failed(const char* what) { return std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

Variables VariablesOf(const Job& job, const RankPlace& place) {
  return {{"RANK", std::to_string(place.rank)},
          {"WORLD_SIZE", std::to_string(job.ranks.size())},
          {"LOCAL_RANK", std::to_string(place.local_rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(place.host->ranks)},
          {"MASTER_ADDR", job.master},
          {"MASTER_PORT", std::to_string(job.port)}};
}

// --- Over ssh --------------------------------------------------------------------------------------------------------------

std::string Quoted(const std::string& word) {
  std::string safe = "'";
  for (const char c : word) safe += c == '\'' ? "'\\''" : std::string(1, c);
  return safe + "'";
}

// Settings of ours and of HCCL travel along; the rest of the environment belongs to the host.
bool Travels(const std::string& name) {
  for (const char* prefix : {"ROPEWAY_", "HCCL_", "ASCEND_"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return name == "LD_LIBRARY_PATH" || name == "PYTHONPATH";
}

Variables TravellingVariables() {
  Variables variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    const size_t sign = text.find('=');
    if (sign != std::string::npos && Travels(text.substr(0, sign))) variables.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  }
  return variables;
}

// The program in a group of its own. What ssh reads is names of signals for it; when ssh ends, however it does, the program has to.
std::string RemoteScript(const Job& job, const RankPlace& place) {
  std::string script = "cd " + Quoted(std::filesystem::current_path().string()) + " || exit 126\nexport";
  for (const Variables& variables : {TravellingVariables(), VariablesOf(job, place)}) {
    for (const auto& [name, value] : variables) script += " " + name + "=" + Quoted(value);
  }
  script += "\nexec 3<&0 </dev/null\nsetsid";
  for (const std::string& word : job.words) script += " " + Quoted(word);
  return script + R"( 3<&- &
program=$!
{ while read -r signal; do kill -s "$signal" -- "-$program"; done; kill -s KILL -- "-$program"; } <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$program"
status=$?
kill "$watcher"
kill -s KILL -- "-$program" 2>/dev/null
exit "$status"
)";
}

// --- Here ------------------------------------------------------------------------------------------------------------------

struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw Failed("no pipe for a rank");
  }
  int ends[2];
};

// In the child: what the launcher changed for itself is undone, and the child does not outlive it.
[[noreturn]] void Become(const Job& job, const RankPlace& place, pid_t launcher) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  if (!place.host->here()) _exit(Execute("ranks", {"ssh", place.host->name, RemoteScript(job, place)}));
  for (const auto& [name, value] : VariablesOf(job, place)) setenv(name.c_str(), value.c_str(), 1);
  _exit(Execute("ranks", job.words));
}

}  // namespace

std::vector<RankHost> ParseHosts(const std::string& list) {
  std::vector<RankHost> hosts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    const size_t colon = word.rfind(':');
    RankHost host{word.substr(0, colon)};
    if (colon != std::string::npos) {
      const auto [rest, error] = std::from_chars(word.data() + colon + 1, word.data() + word.size(), host.ranks);
      if (error != std::errc() || rest != word.data() + word.size() || host.ranks == 0)
        throw std::runtime_error("--hosts: '" + word + "' is no HOST:RANKS");
    }
    if (host.name.empty() || host.name[0] == '-') throw std::runtime_error("--hosts: '" + word + "' names no host");
    hosts.push_back(host);
    at = end + 1;
  }
  return hosts;
}

void ShareRanks(uint32_t ranks, std::vector<RankHost>* hosts) {
  uint32_t said = 0, open = 0;
  for (const RankHost& host : *hosts) {
    said += host.ranks;
    open += host.ranks == 0;
  }
  if (ranks == 0) ranks = said + open;
  if (said + open > ranks || (open == 0 && said != ranks))
    throw std::runtime_error("--hosts has room for " + std::to_string(said + open) + " ranks, and -n asks for " + std::to_string(ranks));
  uint32_t left = ranks - said;
  for (RankHost& host : *hosts) {
    if (host.ranks != 0) continue;
    host.ranks = (left + open - 1) / open;
    left -= host.ranks;
    --open;
  }
}

RankProcess StartRank(const Job& job, const RankPlace& place) {
  const Pipe output, errors, lifeline;
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Failed("no process for a rank");
  if (pid == 0) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(place.host->here() ? nothing : lifeline.ends[0], 0);
    dup2(output.ends[1], 1);
    dup2(errors.ends[1], 2);
    Become(job, place, launcher);
  }
  setpgid(pid, pid);  // whoever comes first
  for (const int end : {output.ends[1], errors.ends[1], lifeline.ends[0]}) close(end);
  if (place.host->here()) close(lifeline.ends[1]);
  return {pid, output.ends[0], errors.ends[0], place.host->here() ? -1 : lifeline.ends[1]};
}

uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (!found) throw Failed("no port for MASTER_PORT; --port gives one");
  return ntohs(address.sin_port);
}

}  // namespace ropeway::cli
