#include "hccl_ranks/process/rank_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace ropeway_test {
namespace {

constexpr int kParentFd = 3;

std::map<std::string, Role>& Roles() {
  static std::map<std::string, Role> roles;
  return roles;
}

void WriteLine(int fd, const std::string& line) {
  const std::string bytes = line + "\n";
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t sent = send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return;
    done += static_cast<size_t>(sent);
  }
}

std::string ReadLine(int fd, std::string* buffer) {
  for (;;) {
    const size_t end = buffer->find('\n');
    if (end != std::string::npos) {
      const std::string line = buffer->substr(0, end);
      buffer->erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got <= 0) return "";
    buffer->append(bytes, static_cast<size_t>(got));
  }
}

void EnterNamespace(const std::string& name) {
  const int fd = open(("/var/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (setns(fd, CLONE_NEWNET) != 0) _exit(126);
}

}  // namespace

RoleEntry::RoleEntry(const char* name, Role role) { Roles()[name] = role; }

void Parent::Say(const std::string& line) { WriteLine(kParentFd, line); }

std::string Parent::Hear() {
  static std::string buffer;
  return ReadLine(kParentFd, &buffer);
}

int RunRoleOrTests(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "--role") {
    RoleCall call{static_cast<uint32_t>(std::atoi(argv[3])), static_cast<uint32_t>(std::atoi(argv[4])), argv[5], {}};
    return Roles().at(argv[2])(call);
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

RankProcess::RankProcess(const std::string& role, uint32_t rank, uint32_t size, const std::string& argument,
                         const std::map<std::string, std::string>& settings) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) abort();
  const std::string rank_text = std::to_string(rank), size_text = std::to_string(size);
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(pair[1], kParentFd);
    for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
    if (const auto space = settings.find(kNetworkNamespace); space != settings.end()) EnterNamespace(space->second);
    execl(path, path, "--role", role.c_str(), rank_text.c_str(), size_text.c_str(), argument.c_str(), nullptr);
    _exit(127);
  }
  close(pair[1]);
  fd_ = pair[0];
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), fd_(std::exchange(other.fd_, -1)), heard_(std::move(other.heard_)) {}

RankProcess::~RankProcess() {
  if (pid_ > 0) {
    Kill();
    Wait();
  }
  if (fd_ >= 0) close(fd_);
}

void RankProcess::Say(const std::string& line) const { WriteLine(fd_, line); }

std::string RankProcess::Hear() { return ReadLine(fd_, &heard_); }

void RankProcess::Kill() const { kill(pid_, SIGKILL); }
void RankProcess::Stop() const { kill(pid_, SIGSTOP); }

int RankProcess::Wait() {
  int status = 0;
  if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::vector<RankProcess> StartRanks(const std::string& role, uint32_t size, const std::map<std::string, std::string>& settings) {
  std::vector<RankProcess> ranks;
  for (uint32_t rank = 0; rank < size; ++rank) ranks.emplace_back(role, rank, size, "", settings);
  const std::string root = ranks[0].Hear();
  for (uint32_t rank = 1; rank < size; ++rank) ranks[rank].Say(root);
  return ranks;
}

std::string ToHex(const void* bytes, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string FromHex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace ropeway_test

int main(int argc, char** argv) { return ropeway_test::RunRoleOrTests(argc, argv); }
