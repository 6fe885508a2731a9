// A client that uses the engine by its header, and two functions of libhccl.so that no header has.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "hixl/hixl.h"

namespace hccl {
class MemMappingManager {
 public:
  static MemMappingManager& GetInstance(int device);
  int GetDevVA(int device, void* host, unsigned long long size, void*& mapped);
};
}  // namespace hccl

#ifndef MODULE  // `extern "C"` where it is loaded, and not run
#define MODULE
#endif
MODULE int main() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  hixl::Hixl engine;
  if (engine.Initialize("127.0.0.1", {{hixl::OPTION_BUFFER_POOL, "0:0"}}) != hixl::SUCCESS) return 2;
  std::vector<char> host(1 << 20);
  void *expected = nullptr, *mapped = nullptr;
  hccl::MemMappingManager& manager = hccl::MemMappingManager::GetInstance(0);
  if (manager.GetDevVA(0, host.data(), host.size(), mapped) == 0 || mapped != nullptr) return 3;
  if (aclrtHostRegister(host.data(), host.size(), ACL_HOST_REGISTER_MAPPED, &expected) != ACL_SUCCESS) return 4;
  if (manager.GetDevVA(0, host.data(), host.size(), mapped) != 0 || mapped != expected) return 5;
  if (manager.GetDevVA(0, host.data(), host.size() + 4096, mapped) == 0) return 6;
  hixl::MemHandle handle = nullptr;
  if (engine.RegisterMem({reinterpret_cast<uintptr_t>(host.data()), host.size(), {}}, hixl::MEM_HOST, handle) != hixl::SUCCESS) return 7;
  engine.Finalize();
  return aclrtHostUnregister(host.data()) == ACL_SUCCESS ? 0 : 8;
}
