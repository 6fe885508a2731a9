// Where the ranks of `ropeway ranks` run, what they are told, and how one is started: here, or over ssh.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ropeway::cli {

struct RankHost {
  std::string name;    // as ssh takes it; "" or "localhost": here
  uint32_t ranks = 0;  // 0: a fair share
  bool here() const { return name.empty() || name == "localhost"; }
};

// "a:4,b:4". Throws std::runtime_error with what is wrong.
std::vector<RankHost> ParseHosts(const std::string& list);
// Gives every host its number of ranks; `ranks` 0: as many as the hosts say. Throws where the two do not agree.
void ShareRanks(uint32_t ranks, std::vector<RankHost>* hosts);

struct RankPlace {
  uint32_t rank = 0;
  uint32_t local_rank = 0;
  const RankHost* host = nullptr;
};
struct Job {
  std::vector<RankHost> hosts;
  std::vector<RankPlace> ranks;  // of host after host
  std::string master;
  uint16_t port = 0;
  std::vector<std::string> words;
};

// A rank that was started: the leader of a process group of its own.
struct RankProcess {
  pid_t pid = 0;
  int output = -1, errors = -1;
  int lifeline = -1;  // of one over ssh: takes names of signals; closed, it ends the program. -1: the group is signalled
};
RankProcess StartRank(const Job& job, const RankPlace& place);

// A port of this host that nobody listens at.
uint16_t FreePort();

}  // namespace ropeway::cli
