// `ropeway ranks`: starts a program once for each rank, here or on other hosts, and looks after them: their output has the rank in front,
// and when one fails the others end, too.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/launch.h"
#include "cli/rank_start.h"

namespace ropeway::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kGrace(5);  // from the signal that asks the others to end to the one that ends them
constexpr size_t kLongestLine = 1 << 16;
constexpr uint16_t kUsualPort = 29500;

struct RanksOptions {
  uint32_t ranks = 0;
  std::string hosts;
  std::string master;
  uint16_t port = 0;
  std::vector<std::string> words;
};

// One channel of one rank, line by line.
class Channel {
 public:
  Channel(int fd, FILE* to, const std::string& prefix) : fd_(fd), to_(to), prefix_(prefix) {}
  int fd() const { return fd_; }

  // False: it is closed.
  bool Read() {
    char bytes[4096];
    const ssize_t count = read(fd_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return true;
    if (count <= 0) {
      Close();
      return false;
    }
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] != '\n') line_ += bytes[i];
      if (bytes[i] == '\n' || line_.size() >= kLongestLine) Print();
    }
    return true;
  }
  // What is there already, of somebody who has ended.
  void Drain() {
    pollfd ready{fd_, POLLIN, 0};
    while (fd_ >= 0 && poll(&ready, 1, 0) > 0 && Read()) {
    }
    Close();
  }

 private:
  void Print() {
    std::fprintf(to_, "%s%s\n", prefix_.c_str(), line_.c_str());
    std::fflush(to_);
    line_.clear();
  }
  void Close() {
    if (fd_ < 0) return;
    if (!line_.empty()) Print();
    close(fd_);
    fd_ = -1;
  }

  int fd_;
  FILE* const to_;
  const std::string prefix_;
  std::string line_;
};

// As of somebody who was started by nohup, or behind an ampersand: it stays so, for the ranks, too.
bool IsIgnored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Children of ranks that have ended, and theirs in turn.
void EndOrphans() {
  while (waitpid(-1, nullptr, WNOHANG) >= 0) {
    std::ifstream children("/proc/thread-self/children");
    for (pid_t pid; children >> pid;) kill(pid, SIGKILL);
    waitpid(-1, nullptr, 0);
  }
}

const char* NameOf(int signal) { return sigabbrev_np(signal); }

class Crew {
 public:
  explicit Crew(const Job& job) : job_(job) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
      if (!IsIgnored(signal)) sigaddset(&signals_, signal);
    }
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
    signal_fd_ = signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd_ < 0) throw std::runtime_error("no signalfd");
    std::signal(SIGPIPE, SIG_IGN);     // a lifeline whose ssh has gone
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // what ranks leave behind comes to us
  }
  ~Crew() {
    Signal(SIGKILL);
    close(signal_fd_);
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int Run() {
    for (const RankPlace& place : job_.ranks) {
      const std::string prefix = "[" + std::to_string(place.rank) + "] ";
      const RankProcess process = StartRank(job_, place);
      members_.push_back({process, true});
      channels_.emplace_back(process.output, stdout, prefix);
      channels_.emplace_back(process.errors, stderr, prefix);
    }
    left_ = members_.size();
    while (left_ > 0) Step();
    EndOrphans();
    for (Channel& channel : channels_) channel.Drain();
    return status_;
  }

 private:
  struct Member {
    RankProcess process;
    bool runs;
  };

  void Step() {
    std::vector<pollfd> fds{{signal_fd_, POLLIN, 0}};
    for (const Channel& channel : channels_) fds.push_back({channel.fd(), POLLIN, 0});  // negative ones are passed over
    if (poll(fds.data(), fds.size(), TimeLeft()) < 0 && errno != EINTR) throw std::runtime_error("poll failed");
    for (size_t i = 0; i < channels_.size(); ++i) {
      if (fds[i + 1].revents != 0) channels_[i].Read();
    }
    if (ending_ && Clock::now() >= deadline_) Signal(SIGKILL);
    TakeSignals();
    Reap();
  }
  int TimeLeft() const {
    if (!ending_) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    return left < 0 ? 100 : static_cast<int>(left) + 1;
  }

  // What the launcher is sent, its ranks get. Whoever asks twice wants the end.
  void TakeSignals() {
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      const bool ends = signal == SIGINT || signal == SIGTERM;
      Signal(ends && asked_ ? SIGKILL : signal);
      asked_ = asked_ || ends;
    }
  }

  void Signal(int signal) {
    for (Member& member : members_) {
      if (member.runs) Signal(member.process, signal);
    }
  }
  static void Signal(RankProcess& process, int signal) {
    if (process.lifeline < 0) {
      kill(-process.pid, signal);
      return;
    }
    dprintf(process.lifeline, "%s\n", NameOf(signal));
    if (signal != SIGKILL) return;
    close(process.lifeline);
    process.lifeline = -1;
  }

  void Reap() {
    int wait_status = 0;
    for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) {
      for (size_t rank = 0; rank < members_.size(); ++rank) {
        if (members_[rank].process.pid == pid && members_[rank].runs) Ended(rank, StatusOf(wait_status));
      }
    }
  }
  void Ended(size_t rank, int status) {
    Member& member = members_[rank];
    member.runs = false;
    --left_;
    kill(-member.process.pid, SIGKILL);  // what it has left behind
    if (member.process.lifeline >= 0) close(member.process.lifeline);
    if (status == 0 || status_ != 0) return;
    status_ = status;
    const std::string others = left_ == 0 ? "" : "; ending the others";
    std::fprintf(stderr, "ropeway ranks: rank %zu ended with status %d%s\n", rank, status, others.c_str());
    ending_ = true;
    deadline_ = Clock::now() + kGrace;
    Signal(SIGTERM);
  }

  const Job& job_;
  sigset_t signals_;
  int signal_fd_ = -1;
  std::vector<Member> members_;  // by rank
  std::vector<Channel> channels_;
  size_t left_ = 0;
  int status_ = 0;  // of the first that failed
  bool asked_ = false;
  bool ending_ = false;
  Clock::time_point deadline_;
};

Job JobOf(const RanksOptions& options) {
  Job job;
  const bool many = !options.hosts.empty();
  if (!many && options.ranks == 0) throw std::runtime_error("how many ranks? -n says it, or --hosts");
  job.hosts = many ? ParseHosts(options.hosts) : std::vector<RankHost>{{"", options.ranks}};
  ShareRanks(options.ranks, &job.hosts);
  for (const RankHost& host : job.hosts) {
    for (uint32_t local = 0; local < host.ranks; ++local) job.ranks.push_back({static_cast<uint32_t>(job.ranks.size()), local, &host});
  }
  const std::string& first = job.hosts[0].name;
  job.master = !options.master.empty() ? options.master : job.hosts[0].here() ? "127.0.0.1" : first.substr(first.find('@') + 1);
  job.port = options.port != 0 ? options.port : many ? kUsualPort : FreePort();
  job.words = options.words;
  return job;
}

int RunRanks(const RanksOptions& options) {
  const Tree tree = FindTree();
  if (!HasLibrary("ranks", tree)) return kFound;
  for (const TreeVariable& variable : TreeVariables(tree)) Export(variable);
  Job job;
  try {
    job = JobOf(options);
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "ropeway ranks: %s\n", error.what());
    return kWrongUsage;
  }
  std::fflush(nullptr);
  return Crew(job).Run();
}

}  // namespace

void AddRanks(CLI::App& app, int* status) {
  CLI::App* command =
      app.add_subcommand("ranks", "run a program once for each rank of a job: ropeway ranks -n N [--hosts LIST] -- PROGRAM [ARGUMENTS...]");
  auto options = std::make_shared<RanksOptions>();
  command->add_option("-n,--ranks", options->ranks, "how many ranks [with --hosts: as many as those have]")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command->add_option("--hosts", options->hosts, "where, over ssh: HOST:RANKS,HOST:RANKS...; localhost is here [all here]")
      ->type_name("LIST");
  command->add_option("--master", options->master, "MASTER_ADDR of the ranks [the first host, or 127.0.0.1]")->type_name("ADDRESS");
  command->add_option("--port", options->port, "MASTER_PORT of the ranks [a free one; with --hosts 29500]")
      ->type_name("PORT")
      ->check(CLI::Range(1, 65535));
  command->add_option("PROGRAM", options->words, "the program and its arguments, behind --")
      ->type_name("PROGRAM [ARGUMENTS...]")
      ->required();
  command->callback([options, status] { *status = RunRanks(*options); });
}

}  // namespace ropeway::cli
