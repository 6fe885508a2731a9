// How communicators grow: time and memory of joining, of the first word between all pairs, and of a barrier, for 2 to
// 64 ranks in processes of their own on this host. Prints the table of docs/scale.md.
// bench/hccl_bootstrap.sh builds and starts it.
//
//   hccl_bootstrap [LARGEST]
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
constexpr int kRuns = 3;

void Must(int code, const char* what) {
  if (code == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d\n%s", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define MUST(call) Must(static_cast<int>(call), #call)

double MillisecondsSince(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

// What the process alone has written to: pages of files become private and shared again as other processes come and go.
long PrivateKiB() {
  FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  long total = 0, value = 0;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "Private_Dirty: %ld", &value) == 1) total += value;
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
void Write(int fd, const void* bytes, size_t size) {
  Must(send(fd, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size) ? 0 : 1, "send");
}

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
  // Pages of the device and the runtime's own start-up are no part of what is measured.
  MUST(aclrtMemsetAsync(memory, 64 * (size + 1), 0, 64 * (size + 1), stream));
  MUST(aclrtSynchronizeStream(stream));
  HcclRootInfo root;
  if (rank == 0) MUST(HcclGetRootInfo(&root));
  Write(parent, &root, sizeof root);  // "here"; only rank 0's bytes mean something
  Read(parent, &root, sizeof root);
  Measure(size, rank, root, stream, static_cast<char*>(memory), parent);
  return 0;
}

std::vector<Report> RunRanks(uint32_t size) {
  std::fflush(stdout);  // else every child prints it again
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

// Of one run: the slowest rank counts for times, the mean of all but the root for memory.
struct Row {
  double join_ms = 0, mesh_ms = 0, barrier_us = 0, join_kib = 0, peer_kib = 0;
  long root_kib = 0, descriptors = 0;
};

Row Summary(const std::vector<Report>& reports) {
  Row row;
  const double others = static_cast<double>(reports.size() - 1);
  row.root_kib = reports[0].join_kib;
  for (const Report& one : reports) {
    row.join_ms = std::max(row.join_ms, one.join_ms);
    row.mesh_ms = std::max(row.mesh_ms, one.mesh_ms);
    row.barrier_us = std::max(row.barrier_us, one.barrier_us);
    row.descriptors = std::max(row.descriptors, one.descriptors);
    if (&one == &reports[0]) continue;
    row.join_kib += static_cast<double>(one.join_kib) / others;
    row.peer_kib += static_cast<double>(one.mesh_kib) / others / others;
  }
  return row;
}

// The fastest of some runs, since what else the machine does only adds; and the largest, since the allocator may reuse
// old pages.
void Print(uint32_t size) {
  Row best = Summary(RunRanks(size));
  for (int run = 1; run < kRuns; ++run) {
    const Row row = Summary(RunRanks(size));
    best.join_ms = std::min(best.join_ms, row.join_ms);
    best.mesh_ms = std::min(best.mesh_ms, row.mesh_ms);
    best.barrier_us = std::min(best.barrier_us, row.barrier_us);
    best.join_kib = std::max(best.join_kib, row.join_kib);
    best.peer_kib = std::max(best.peer_kib, row.peer_kib);
    best.root_kib = std::max(best.root_kib, row.root_kib);
  }
  std::printf("| %u | %.1f | %.0f | %ld | %.1f | %.1f | %ld | %.0f |\n", size, best.join_ms, best.join_kib, best.root_kib, best.mesh_ms,
              best.peer_kib, best.descriptors, best.barrier_us);
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t largest = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 64;
  std::printf(
      "| ranks | join, ms | KiB per rank | KiB at the root | all pairs, ms | KiB per peer | descriptors | barrier, us "
      "|\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (uint32_t size = 2; size <= largest; size *= 2) Print(size);
  return 0;
}
