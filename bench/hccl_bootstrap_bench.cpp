// How communicators grow: time and memory of joining, of the first word between all pairs, and of a barrier, for 2 to 64 ranks in
// processes of their own on this host. Prints the table of docs/scale.md.
//
//   hccl_bootstrap_bench [LARGEST]
#include <dirent.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kBarriers = 50;

void Must(int code, const char* what) {
  if (code == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d\n%s", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define MUST(call) Must(static_cast<int>(call), #call)

double MillisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

// Private memory only: pages that all processes share belong to none of them.
long PrivateKiB() {
  FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  long total = 0, value = 0;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "Private_Clean: %ld", &value) == 1 || std::sscanf(line, "Private_Dirty: %ld", &value) == 1) total += value;
  }
  if (file != nullptr) std::fclose(file);
  return total;
}

long OpenDescriptors() {
  DIR* const folder = opendir("/proc/self/fd");
  long count = 0;
  while (folder != nullptr && readdir(folder) != nullptr) ++count;
  if (folder != nullptr) closedir(folder);
  return count;
}

struct Report {
  double join_ms, mesh_ms, barrier_us;
  long join_kib, mesh_kib, descriptors;
};

void Read(int fd, void* bytes, size_t size) { Must(recv(fd, bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size) ? 0 : 1, "recv"); }
void Write(int fd, const void* bytes, size_t size) { Must(send(fd, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size) ? 0 : 1, "send"); }

// Everybody exchanges a few bytes with everybody: that makes every control channel.
void Mesh(uint32_t size, uint32_t rank, HcclComm comm, aclrtStream stream, char* memory) {
  std::vector<HcclSendRecvItem> items;
  for (uint32_t peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    items.push_back({HCCL_SEND, memory, 8, HCCL_DATA_TYPE_UINT8, peer});
    items.push_back({HCCL_RECV, memory + 64 * (peer + 1), 8, HCCL_DATA_TYPE_UINT8, peer});
  }
  MUST(HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), comm, stream));
  MUST(aclrtSynchronizeStream(stream));
}

Report Measure(uint32_t size, uint32_t rank, const HcclRootInfo& root, aclrtStream stream, char* memory, int parent) {
  Report report;
  HcclComm comm = nullptr;
  const long before = PrivateKiB();
  Clock::time_point start = Clock::now();
  MUST(HcclCommInitRootInfo(size, &root, rank, &comm));
  report.join_ms = MillisecondsSince(start);
  const long joined = PrivateKiB();
  report.join_kib = joined - before;
  start = Clock::now();
  Mesh(size, rank, comm, stream, memory);
  report.mesh_ms = MillisecondsSince(start);
  report.mesh_kib = PrivateKiB() - joined;
  report.descriptors = OpenDescriptors();
  start = Clock::now();
  for (int i = 0; i < kBarriers; ++i) MUST(HcclBarrier(comm, stream));
  MUST(aclrtSynchronizeStream(stream));
  report.barrier_us = MillisecondsSince(start) * 1000 / kBarriers;
  Write(parent, &report, sizeof report);
  char go;
  Read(parent, &go, 1);  // nobody leaves while others measure
  MUST(HcclCommDestroy(comm));
  return report;
}

int RunRank(uint32_t size, uint32_t rank, int parent) {
  MUST(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  MUST(aclrtCreateStream(&stream));
  void* memory = nullptr;
  MUST(aclrtMalloc(&memory, 64 * (size + 1), ACL_MEM_MALLOC_HUGE_FIRST));
  HcclRootInfo root;
  if (rank == 0) MUST(HcclGetRootInfo(&root));
  Write(parent, &root, sizeof root);  // "here"; only rank 0's bytes mean something
  Read(parent, &root, sizeof root);
  Measure(size, rank, root, stream, static_cast<char*>(memory), parent);
  return 0;
}

std::vector<Report> RunRanks(uint32_t size) {
  std::vector<int> fds;
  for (uint32_t rank = 0; rank < size; ++rank) {
    int pair[2];
    Must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "socketpair");
    if (fork() == 0) {
      for (const int fd : fds) close(fd);
      close(pair[0]);
      std::exit(RunRank(size, rank, pair[1]));
    }
    close(pair[1]);
    fds.push_back(pair[0]);
  }
  std::vector<HcclRootInfo> roots(size);
  for (uint32_t rank = 0; rank < size; ++rank) Read(fds[rank], &roots[rank], sizeof(HcclRootInfo));
  for (const int fd : fds) Write(fd, &roots[0], sizeof(HcclRootInfo));
  std::vector<Report> reports(size);
  for (uint32_t rank = 0; rank < size; ++rank) Read(fds[rank], &reports[rank], sizeof(Report));
  for (const int fd : fds) Write(fd, "g", 1);
  for (const int fd : fds) close(fd);
  while (wait(nullptr) > 0) {
  }
  return reports;
}

void Print(uint32_t size, const std::vector<Report>& reports) {
  double join = 0, mesh = 0, barrier = 0;
  long join_kib = 0, mesh_kib = 0, descriptors = 0;
  for (uint32_t rank = 0; rank < size; ++rank) {
    const Report& one = reports[rank];
    join = std::max(join, one.join_ms);
    mesh = std::max(mesh, one.mesh_ms);
    barrier = std::max(barrier, one.barrier_us);
    descriptors = std::max(descriptors, one.descriptors);
    if (rank == 0) continue;  // the root has a line of its own
    join_kib += one.join_kib;
    mesh_kib += one.mesh_kib;
  }
  std::printf("| %u | %.1f | %ld | %ld | %.1f | %.1f | %ld | %.0f |\n", size, join, join_kib / (size - 1), reports[0].join_kib, mesh,
              static_cast<double>(mesh_kib) / (size - 1) / (size - 1), descriptors, barrier);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t largest = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 64;
  std::printf("| ranks | join, ms | KiB per rank | KiB at the root | all pairs, ms | KiB per peer | descriptors | barrier, us |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (uint32_t size = 2; size <= largest; size *= 2) Print(size, RunRanks(size));
  return 0;
}
