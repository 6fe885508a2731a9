// Many clients open libascendcl.so by name, look everything up, and close it again, sometimes with work in flight.
// Built without linking the library this shows that an unloading close is harmless; linked, that a close changes
// nothing.
#include <dlfcn.h>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

const char* LibraryName() {
  const char* path = std::getenv("ROPEWAY_TEST_LIBRARY");
  return path == nullptr ? "libascendcl.so" : path;
}

// The library as such a client sees it: a handle and function pointers.
class Opened {
 public:
  Opened() : handle_(dlopen(LibraryName(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) process_test::Fail(__FILE__, __LINE__, dlerror());
  }
  bool good() const { return handle_ != nullptr; }
  void Close() { RW_CHECK_EQ(dlclose(handle_), 0); }

  template <class Function>
  Function* Find(const char* name, Function*) const {
    void* symbol = dlsym(handle_, name);
    if (symbol == nullptr) {
      process_test::Fail(__FILE__, __LINE__, std::string(name) + " not found");
      std::exit(1);
    }
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  void* handle_;
};

#define RW_FIND(library, name) (library).Find(#name, static_cast<decltype(&name)>(nullptr))

void QueueWork(const Opened& library) {
  constexpr size_t kSize = size_t{1} << 20;
  aclrtStream stream = nullptr;
  void *device = nullptr, *host = nullptr;
  RW_CHECK_EQ(RW_FIND(library, aclrtSetDevice)(0), ACL_SUCCESS);
  RW_CHECK_EQ(RW_FIND(library, aclrtCreateStream)(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(RW_FIND(library, aclrtMalloc)(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(RW_FIND(library, aclrtMallocHost)(&host, kSize), ACL_SUCCESS);
  for (int i = 0; i < 200; ++i) {
    RW_CHECK_EQ(RW_FIND(library, aclrtMemcpyAsync)(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  }
}

void CloseWithWorkPending() {
  Opened library;
  if (!library.good()) return;
  QueueWork(library);
  library.Close();
}

void CloseIdle() {
  Opened library;
  if (!library.good()) return;
  QueueWork(library);
  RW_CHECK_EQ(RW_FIND(library, aclrtSynchronizeDevice)(), ACL_SUCCESS);
  RW_CHECK_EQ(RW_FIND(library, aclrtResetDevice)(0), ACL_SUCCESS);
  library.Close();
}

void OpenAgain() {
  for (int round = 0; round < 3; ++round) {
    Opened library;
    if (!library.good()) return;
    QueueWork(library);
    RW_CHECK_EQ(RW_FIND(library, aclrtSynchronizeDevice)(), ACL_SUCCESS);
    library.Close();
  }
}

void OpenedButNeverCalled() {
  Opened library;
  if (library.good()) library.Close();
}

void All() {
  for (const char* mode : {"close_pending", "close_idle", "open_again", "never_called"}) process_test::ExpectClean(mode);
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"close_pending", &CloseWithWorkPending},
                             {"close_idle", &CloseIdle},
                             {"open_again", &OpenAgain},
                             {"never_called", &OpenedButNeverCalled}});
}
