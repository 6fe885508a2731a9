// Where a call was made stands at the end of its message: file and line, because this program has debug information; the newest first, also
// when another thread or the process as a whole keeps the texts. Compiled with line tables whatever the build has.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace {

int g_failed = 0;

void Expect(bool good, const char* what, const std::string& said) {
  if (good) return;
  ++g_failed;
  std::printf("FAILED %s: %s\n", what, said.c_str());
}

std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

bool Ends(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The line of the macro is that of the call.
#define EXPECT_CALLED_HERE(call)                                                                   \
  do {                                                                                             \
    static_cast<void>(call);                                                                       \
    const std::string message = Message();                                                         \
    const std::string end = "        called at call_sites.cpp:" + std::to_string(__LINE__) + "\n"; \
    Expect(Ends(message, end), #call, message + "without " + end);                                 \
  } while (false)

void EachSortOfEntry() {
  void* block = nullptr;
  char host[64];
  EXPECT_CALLED_HERE(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CALLED_HERE(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_CALLED_HERE(aclrtMemcpyAsync(nullptr, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
  EXPECT_CALLED_HERE(aclrtSynchronizeStream(reinterpret_cast<aclrtStream>(0x1234)));
  EXPECT_CALLED_HERE(aclrtGetDeviceCount(nullptr));
}

// Who made a block, and who freed it.
void CallsOfLongAgo() {
  void* block = nullptr;
  static_cast<void>(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST)), static_cast<void>(aclrtFree(block));
  const std::string here = " (called at call_sites.cpp:" + std::to_string(__LINE__ - 1) + ")";
  static_cast<void>(aclrtFree(block));
  const std::string said = Message();
  const size_t made = said.find("aclrtMalloc made" + here), freed = said.find("aclrtFree has freed" + here);
  Expect(made < freed && freed != std::string::npos, "a block that is gone", said + "without " + here);
}

void SeveralTexts() {
  static_cast<void>(aclrtFree(nullptr));
  static_cast<void>(aclrtFreeHost(nullptr));
  const std::string said = Message();
  const size_t host = said.find("aclrtFreeHost: "), device = said.find("aclrtFree: ");
  const size_t first = said.find("called at"), second = said.find("called at", first + 1);
  Expect(host < first && first < device && device < second && second != std::string::npos, "two texts", said);
}

// What somebody else tells of a call that he made for the program.
void ToldByOthers() {
  const void* const here = reinterpret_cast<const void*>(&ToldByOthers);
  static_cast<void>(aclrtFree(nullptr));
  ropewayTellErrorSite(here, "train.py:12");
  ropewayTellErrorSite(here, "later.py:1");
  const std::string told = Message();
  Expect(Ends(told, "        called at train.py:12\n"), "told in words", told);

  static_cast<void>(aclrtFree(nullptr));
  ropewayTellErrorSite(reinterpret_cast<const void*>(&getppid), "other.py:1");
  const std::string of_others = Message();
  Expect(of_others.find("other.py") == std::string::npos && of_others.find("call_sites.cpp") != std::string::npos, "told by a stranger",
         of_others);

  ropewayFileErrorText("from above\n");
  const std::string without = Message();
  Expect(without == "from above\n", "a text without a place", without);
  ropewayFileErrorText("from above\n");
  ropewayTellErrorSite(here, nullptr);
  const std::string with = Message();
  Expect(with.rfind("from above\n        called ", 0) == 0, "a text with an address", with);
  Expect(ropewayTellErrorSite(nullptr, "x") == ACL_ERROR_INVALID_PARAM, "no caller", Message());
}

#if RW_SANITIZED
void WithoutMemory() {}  // which has an allocator of its own
#else
// libdw ends a process that runs out of memory while it looks.
void WithoutMemory() {
  static_cast<void>(aclrtFree(nullptr));
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  const std::string said = Message();
  setrlimit(RLIMIT_AS, &before);
  Expect(said.find("aclrtFree: ") != std::string::npos && said.find("called at") == std::string::npos, "without memory", said);
  EXPECT_CALLED_HERE(aclrtFree(nullptr));
}
#endif

}  // namespace

int main() {
  if (dlopen("libdw.so.1", RTLD_NOW) == nullptr) {
    std::printf("libdw is not here, so nobody knows lines\n");
    return 77;
  }
  static_cast<void>(aclInit(nullptr));
  static_cast<void>(aclrtSetDevice(0));
  EachSortOfEntry();
  std::thread(EachSortOfEntry).join();
  CallsOfLongAgo();
  SeveralTexts();
  ToldByOthers();
  WithoutMemory();
  std::printf("%s\n", g_failed == 0 ? "calls are found" : "calls are not found");
  return g_failed == 0 ? 0 : 1;
}
