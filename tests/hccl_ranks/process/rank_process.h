// Ranks as processes: the test program starts itself again, once per rank, with a role. Parent and child talk in lines
// over one socket, so that every step happens when the other side is there, and nothing waits for a clock.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace ropeway_test {

// The child's end.
class Parent {
 public:
  void Say(const std::string& line);
  std::string Hear();  // empty when the parent is gone
};

// What a role gets; it returns the process's exit status.
struct RoleCall {
  uint32_t rank = 0;
  uint32_t size = 0;
  std::string argument;
  Parent parent;
};
using Role = int (*)(RoleCall& call);
struct RoleEntry {
  RoleEntry(const char* name, Role role);
};
// int main: runs the role that the arguments name, or all tests.
int RunRoleOrTests(int argc, char** argv);

// A setting that is none of the child's: the network namespace (of `ip netns`) that it runs in.
constexpr char kNetworkNamespace[] = "RW_TEST_NETNS";

// The parent's end. Children that are left are killed.
class RankProcess {
 public:
  RankProcess(const std::string& role, uint32_t rank, uint32_t size, const std::string& argument = "",
              const std::map<std::string, std::string>& settings = {});
  RankProcess(RankProcess&& other) noexcept;
  ~RankProcess();
  void Say(const std::string& line) const;
  std::string Hear();
  void Kill() const;
  void Stop() const;  // stands still, until it is killed
  // The exit status, or 1000 + the signal.
  int Wait();

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string heard_;
};

// Starts one process per rank, carries the root info from rank 0 to the others, and hands them out.
std::vector<RankProcess> StartRanks(const std::string& role, uint32_t size, const std::map<std::string, std::string>& settings = {});

std::string ToHex(const void* bytes, size_t size);
std::string FromHex(const std::string& text);

}  // namespace ropeway_test
