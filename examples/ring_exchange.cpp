// Every rank sends a block to its right neighbour and receives one from its left, until every block has been
// everywhere, and checks each byte on the way.
//
//   ring_exchange 4                  four ranks on this host
//   ring_exchange 4 0 /shared/root   rank 0 of four, on any host; it writes the root info to the file
//   ring_exchange 4 1 /shared/root   rank 1, on the same or on another host, where the file is shared or copied; and so
//   on
//
// Between hosts, HCCL_SOCKET_IFNAME=eth0 or HCCL_IF_IP=10.0.0.1 chooses the network. The file holds the secret of the
// communicator: keep it as private as the data.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"

static void Must(int code, const char* what) {
  if (code == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d\n%s", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define MUST(call) Must(static_cast<int>(call), #call)

// Rank 0 puts the root info into a file under another name first, so that nobody reads half of it.
static HcclRootInfo ShareRootInfo(uint32_t rank, const std::string& path) {
  HcclRootInfo root;
  if (rank == 0) {
    MUST(HcclGetRootInfo(&root));
    const std::string half = path + ".part";
    const int fd = open(half.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Must(write(fd, &root, sizeof root) == sizeof root ? 0 : 1, "writing the root info");
    close(fd);
    Must(rename(half.c_str(), path.c_str()), "rename");
    return root;
  }
  int fd = -1;
  while ((fd = open(path.c_str(), O_RDONLY | O_CLOEXEC)) < 0) usleep(10000);  // rank 0 is not there yet
  Must(read(fd, &root, sizeof root) == sizeof root ? 0 : 1, "reading the root info");
  close(fd);
  return root;
}

static std::vector<uint32_t> BlockOf(uint32_t rank, size_t count) {
  std::vector<uint32_t> block(count);
  for (size_t i = 0; i < count; ++i) block[i] = static_cast<uint32_t>(i) * 2654435761u + rank;
  return block;
}

static int RunRank(uint32_t size, uint32_t rank, const std::string& path) {
  constexpr size_t kCount = 1 << 20;
  constexpr size_t kBytes = kCount * sizeof(uint32_t);
  MUST(aclInit(nullptr));
  uint32_t devices = 0;
  MUST(aclrtGetDeviceCount(&devices));
  const auto device = static_cast<int32_t>(rank % devices);
  MUST(aclrtSetDevice(device));
  aclrtStream stream = nullptr;
  MUST(aclrtCreateStream(&stream));
  const HcclRootInfo root = ShareRootInfo(rank, path);
  HcclComm comm = nullptr;
  MUST(HcclCommInitRootInfo(size, &root, rank, &comm));

  void *out = nullptr, *in = nullptr;
  MUST(aclrtMalloc(&out, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMalloc(&in, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemcpy(out, kBytes, BlockOf(rank, kCount).data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  const uint32_t right = (rank + 1) % size, left = (rank + size - 1) % size;
  std::vector<uint32_t> got(kCount);
  for (uint32_t step = 1; step < size; ++step) {
    HcclSendRecvItem items[2] = {{HCCL_SEND, out, kCount, HCCL_DATA_TYPE_UINT32, right},
                                 {HCCL_RECV, in, kCount, HCCL_DATA_TYPE_UINT32, left}};
    MUST(HcclBatchSendRecv(items, 2, comm, stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(got.data(), kBytes, in, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    Must(got == BlockOf((rank + size - step) % size, kCount) ? 0 : 1, "the block of another rank arrived damaged");
    std::swap(in, out);
  }
  MUST(HcclBarrier(comm, stream));
  MUST(aclrtSynchronizeStream(stream));
  std::printf("rank %u of %u: %u blocks of %zu MiB came round undamaged\n", rank, size, size - 1, kBytes >> 20);
  MUST(HcclCommDestroy(comm));
  MUST(aclrtFree(in));
  MUST(aclrtFree(out));
  MUST(aclrtDestroyStream(stream));
  MUST(aclrtResetDevice(device));
  MUST(aclFinalize());
  return 0;
}

// One process per rank; the runtime is not touched before they are there.
static int RunAll(uint32_t size) {
  char folder[] = "/tmp/ring_exchange_XXXXXX";
  Must(mkdtemp(folder) == nullptr, "mkdtemp");
  const std::string path = std::string(folder) + "/root";
  std::vector<pid_t> ranks;
  for (uint32_t rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) std::exit(RunRank(size, rank, path));
    ranks.push_back(pid);
  }
  int failed = 0;
  for (const pid_t pid : ranks) {
    int status = 0;
    waitpid(pid, &status, 0);
    failed += status != 0;
  }
  unlink(path.c_str());
  rmdir(folder);
  return failed == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const uint32_t size = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 4;
  if (size < 2 || size > 64 || (argc != 1 && argc != 2 && argc != 4)) {
    std::fprintf(stderr, "usage: %s RANKS [RANK FILE], with 2 to 64 ranks\n", argv[0]);
    return 2;
  }
  return argc == 4 ? RunRank(size, static_cast<uint32_t>(std::atoi(argv[2])), argv[3]) : RunAll(size);
}
