// Freed memory goes back to the system by itself, also when work still used it as it was freed and nobody allocates afterwards. The
// program's alarm ends a wait in vain.
#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/idleness.h"

namespace {

constexpr size_t kBlock = size_t{64} << 20;

// Of the block's pages; a sanitizer's own memory does not count.
size_t ResidentPages(void* memory) {
  std::vector<unsigned char> pages(kBlock / static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  RW_CHECK_EQ(mincore(memory, kBlock, pages.data()), 0);
  return static_cast<size_t>(std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

struct Latch {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
};

void AwaitLatch(void* argument) {
  auto* latch = static_cast<Latch*>(argument);
  std::unique_lock lock(latch->mutex);
  latch->changed.wait(lock, [latch] { return latch->open; });
}

void Run() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  void *device = nullptr, *host = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&device, kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&host, kBlock), ACL_SUCCESS);
  void* view = nullptr;
  RW_CHECK_EQ(ropewayHostView(device, kBlock, &view), ACL_SUCCESS);
  Latch latch;
  RW_CHECK_EQ(aclrtLaunchHostFunc(stream, &AwaitLatch, &latch), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(device, kBlock, 1, kBlock, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(host, kBlock, device, kBlock, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(device), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  {
    std::lock_guard lock(latch.mutex);
    latch.open = true;
    latch.changed.notify_all();
  }
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  while (ResidentPages(view) + ResidentPages(host) != 0) process_test::AwaitTimer(20);
  process_test::CheckIdle("when all is given back");
}

void All() { process_test::ExpectClean("back"); }

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"back", &Run}}); }
