// One rank as a process: joins by a root info in a shared folder and has one region that every other rank may reach.
#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_one_sided_services.h"

namespace hccl_hosts {

[[noreturn]] inline void Die(const char* what, int line, long code) {
  const char* text = aclGetRecentErrMsg();
  fprintf(stderr, "line %d: %s gave %ld: %s\n", line, what, code, text == nullptr ? "" : text);
  _exit(1);
}
#define RW_MUST(call)                                                                        \
  do {                                                                                       \
    if (const long code_ = static_cast<long>(call); code_ != 0) Die(#call, __LINE__, code_); \
  } while (false)
#define RW_EXPECT(condition)                        \
  do {                                              \
    if (!(condition)) Die(#condition, __LINE__, 0); \
  } while (false)

// Files of the shared folder are how ranks and the script talk outside the library.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  void Write(const std::string& name, const std::string& bytes) const {
    const std::string target = path_ + "/" + name;
    std::ofstream(target + ".part", std::ios::binary) << bytes;
    RW_MUST(rename((target + ".part").c_str(), target.c_str()));
  }
  bool Has(const std::string& name) const { return access((path_ + "/" + name).c_str(), F_OK) == 0; }
  std::string Await(const std::string& name) const {
    const int changes = inotify_init1(IN_CLOEXEC);
    RW_EXPECT(changes >= 0 && inotify_add_watch(changes, path_.c_str(), IN_CREATE | IN_MOVED_TO) >= 0);
    char ignored[4096];
    while (!Has(name)) RW_EXPECT(read(changes, ignored, sizeof(ignored)) > 0);
    close(changes);
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  const std::string path_;
};

struct Rank {
  Rank(uint32_t own_rank, uint32_t ranks, const Folder& folder) : rank(own_rank), size(ranks) {
    RW_MUST(aclInit(nullptr));
    RW_MUST(aclrtSetDevice(0));
    HcclRootInfo root;
    if (rank == 0) {
      RW_MUST(HcclGetRootInfo(&root));
      folder.Write("root", std::string(reinterpret_cast<const char*>(&root), sizeof root));
    } else {
      const std::string bytes = folder.Await("root");
      RW_EXPECT(bytes.size() == sizeof root);
      memcpy(&root, bytes.data(), sizeof root);
    }
    RW_MUST(HcclCommInitRootInfo(size, &root, rank, &comm));
    RW_MUST(aclrtCreateStream(&stream));
  }
  void Barrier() {
    RW_MUST(HcclBarrier(comm, stream));
    RW_MUST(aclrtSynchronizeStream(stream));
  }
  // The end of a rank whose communicator has seen no failure, when all have come to it.
  void LeaveInPeace() {
    HcclResult error = HCCL_E_RESERVED;
    RW_MUST(HcclGetCommAsyncError(comm, &error));
    RW_EXPECT(error == HCCL_SUCCESS);
    Barrier();
    Leave();
  }
  void Leave() {
    RW_MUST(HcclCommDestroy(comm));
    RW_MUST(aclrtResetDeviceForce(0));
  }
  const uint32_t rank;
  const uint32_t size;
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
};

// `type` memory of `bytes` zeros.
inline void* Allocate(CommMemType type, size_t bytes) {
  void* memory = nullptr;
  if (type == COMM_MEM_TYPE_HOST) {
    RW_MUST(aclrtMallocHost(&memory, bytes));
    memset(memory, 0, bytes);
  } else {
    RW_MUST(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    RW_MUST(aclrtMemset(memory, bytes, 0, bytes));
  }
  return memory;
}

// Registers memory for a peer, exchanges with it and opens what it offers: the first of its regions.
inline CommMem Open(const Rank& self, uint32_t peer, const std::vector<CommMem>& own) {
  std::vector<HcclMemDesc> local(own.size());
  for (size_t i = 0; i < own.size(); ++i) RW_MUST(HcclRegisterMem(self.comm, peer, own[i].type, own[i].addr, own[i].size, &local[i]));
  std::vector<HcclMemDesc> offered(8);
  HcclMemDescs send{local.data(), static_cast<u32>(local.size())};
  HcclMemDescs receive{offered.data(), static_cast<u32>(offered.size())};
  u32 count = 0;
  RW_MUST(HcclExchangeMemDesc(self.comm, peer, &send, 0, &receive, &count));
  RW_EXPECT(count > 0);
  CommMem there{};
  RW_MUST(HcclEnableMemAccess(self.comm, &offered[0], &there));
  return there;
}

}  // namespace hccl_hosts
