// A client that brings no header of the engine: it declares the class itself, some functions weak, and asks which of them are there.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "graph/ascend_string.h"

namespace adxl {
enum MemType { MEM_DEVICE, MEM_HOST };
enum TransferOp { READ, WRITE };
enum class TransferStatus { WAITING, COMPLETED, TIMEOUT, FAILED };
enum FeatureType : int32_t { AUTO_CONNECT, CLIENT_SERVER_COMM };
struct MemDesc {
  uintptr_t addr;
  size_t len;
  uint8_t reserved[128] = {};
};
struct TransferOpDesc {
  uintptr_t local_addr, remote_addr;
  size_t len;
};
struct TransferArgs {
  uint8_t reserved[128] = {};
};
#define WEAK __attribute__((weak))
class AdxlEngine {
 public:
  AdxlEngine();
  ~AdxlEngine();
  uint32_t Initialize(const ge::AscendString& local, const std::map<ge::AscendString, ge::AscendString>& options);
  void Finalize();
  uint32_t RegisterMem(const MemDesc& mem, MemType type, void*& handle);
  uint32_t Connect(const ge::AscendString& remote, int32_t timeout = 1000);
  uint32_t TransferSync(const ge::AscendString& remote, TransferOp op, const std::vector<TransferOpDesc>& descs, int32_t timeout = 1000);
  WEAK uint32_t TransferAsync(const ge::AscendString& remote, TransferOp op, const std::vector<TransferOpDesc>& descs,
                              const TransferArgs& args, void*& req);
  WEAK uint32_t GetTransferStatus(void* const& req, TransferStatus& status);
  WEAK static uint32_t MallocMem(MemType type, size_t size, void** ptr);
  WEAK static uint32_t FreeMem(void* ptr);
  WEAK static uint32_t GetCapability(FeatureType feature, int32_t& value);

 private:
  class AdxlEngineImpl;
  std::unique_ptr<AdxlEngineImpl> impl_;
};
}  // namespace adxl

#define MUST(call)                                                          \
  do {                                                                      \
    if (const unsigned code = static_cast<unsigned>(call)) {                \
      const char* text = aclGetRecentErrMsg();                              \
      std::printf("%s: %u %s\n", #call, code, text == nullptr ? "" : text); \
      return 1;                                                             \
    }                                                                       \
  } while (false)

int main() {
  using namespace adxl;
  if (&AdxlEngine::GetCapability == nullptr || &AdxlEngine::MallocMem == nullptr || &AdxlEngine::FreeMem == nullptr) return 2;
  int32_t connects = 0;
  MUST(AdxlEngine::GetCapability(AUTO_CONNECT, connects));
  MUST(aclrtSetDevice(0));
  void *from = nullptr, *to = nullptr, *handle = nullptr, *req = nullptr;
  MUST(aclrtMalloc(&from, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemset(from, 4096, 7, 4096));
  const uintptr_t local = reinterpret_cast<uintptr_t>(from), remote = reinterpret_cast<uintptr_t>(to);
  AdxlEngine here, there;
  MUST(here.Initialize("127.0.0.1", {{"AutoConnect", "1"}, {"adxl.BufferPool", "0:0"}, {"adxl.LocalCommRes", "{\"version\":\"1.3\"}"}}));
  char name[32];
  unsigned failed = 1;
  for (int port = 21000; failed != 0 && port < 21100; ++port) {
    std::snprintf(name, sizeof name, "127.0.0.1:%d", port);
    failed = there.Initialize(name, {});
  }
  MUST(failed);
  MUST(here.RegisterMem({local, 4096}, MEM_DEVICE, handle));
  MUST(there.RegisterMem({remote, 4096}, MEM_DEVICE, handle));
  MUST(here.TransferAsync(name, WRITE, {{local, remote, 4096}}, {}, req));
  TransferStatus status = TransferStatus::WAITING;
  while (status == TransferStatus::WAITING) MUST(here.GetTransferStatus(req, status));
  char bytes[4096] = {};
  MUST(aclrtMemcpy(bytes, 4096, to, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
  here.Finalize();
  return connects == 1 && status == TransferStatus::COMPLETED && bytes[4095] == 7 ? 0 : 3;
}
