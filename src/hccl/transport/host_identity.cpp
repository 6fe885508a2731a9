#include "hccl/transport/host_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/random.h"

namespace ropeway::comm {

std::string HostIdentity() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat space {};
  const bool known = stat("/proc/self/ns/net", &space) == 0;
  // Without /proc nothing tells two hosts apart: then each process is one.
  if (boot.empty() || !known) return "process-" + std::to_string(ProcessNumber());
  return boot + "/" + std::to_string(space.st_ino) + "/" + std::to_string(geteuid());
}

std::string NetworkOf(const std::string& host) {
  const size_t user = host.rfind('/');
  const size_t space = user == std::string::npos || user == 0 ? user : host.rfind('/', user - 1);
  if (space == std::string::npos || space == 0) return host;
  const size_t boot = host.rfind('/', space - 1);  // behind the server of a rank table
  return host.substr(boot == std::string::npos ? 0 : boot + 1, user - (boot == std::string::npos ? 0 : boot + 1));
}

uint64_t ProcessNumber() {
  static const uint64_t number = [] {
    uint64_t value;
    std::memcpy(&value, RandomBytes(sizeof value).data(), sizeof value);
    return value;
  }();
  return number;
}

}  // namespace ropeway::comm
