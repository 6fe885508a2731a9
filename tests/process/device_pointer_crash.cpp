// Host code that touches device memory dies by SIGSEGV, and one line on stderr says which pointer, which block, and
// which call made it. Other crashes are left alone. A copy that touches host memory which is not there answers 507052, unless the
// program has put a handler of its own in front of the library's.
#include <sys/mman.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace {

constexpr size_t kSize = 5000, kOffset = 123;

volatile char* Allocate() {
  void* block = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return static_cast<volatile char*>(block);
}

void Announce(const volatile char* address) {
  std::printf("%p\n", const_cast<const char*>(address));
  std::fflush(stdout);
}

void Read() {
  volatile char* block = Allocate();
  Announce(block + kOffset);
  std::printf("%d\n", block[kOffset]);
}

void Write() {
  volatile char* block = Allocate();
  Announce(block + kOffset);
  block[kOffset] = 1;
}

void ReadFreed() {
  volatile char* block = Allocate();
  RW_CHECK_EQ(aclrtFree(const_cast<char*>(block)), ACL_SUCCESS);
  Announce(block + kOffset);
  std::printf("%d\n", block[kOffset]);
}

void ReadRemote() {
  Allocate();
  void* remote = nullptr;
  RW_CHECK_EQ(ropewayReserveRemote(kSize, &remote), ACL_SUCCESS);
  volatile char* const address = static_cast<volatile char*>(remote);
  Announce(address + kOffset);
  std::printf("%d\n", address[kOffset]);
}

void ReadAlias() {
  Allocate();
  static char memory[kSize];
  void* alias = nullptr;
  RW_CHECK_EQ(aclrtHostRegister(memory, kSize, ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  volatile char* const address = static_cast<volatile char*>(alias);
  Announce(address + kOffset);
  std::printf("%d\n", address[kOffset]);
}

void ReadElsewhere() {
  Allocate();
  // Not a constant, or the compiler would see through it.
  volatile uintptr_t low = 16;
  volatile char* nowhere = reinterpret_cast<volatile char*>(low);
  std::printf("%d\n", *nowhere);
}

// The lines of a text that are ours; a sanitizer adds its own report to the crash, which has the paths of this tree.
std::vector<std::string> OurLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!RW_SANITIZED || line.starts_with("ropeway: ")) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

// --- Host memory that is not there --------------------------------------------------------------------------------------

char* Inaccessible() {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RW_CHECK(page != MAP_FAILED);
  return static_cast<char*>(page);
}

aclError CopyFrom(const void* host) {
  static void* const device = const_cast<char*>(Allocate());
  return aclrtMemcpy(device, kSize, host, 100, ACL_MEMCPY_HOST_TO_DEVICE);
}

sigjmp_buf g_back;
volatile int g_handled = 0;
void JumpBack(int) {
  g_handled = g_handled + 1;
  siglongjmp(g_back, 1);
}

void HandleBy(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  RW_CHECK_EQ(sigaction(SIGSEGV, &action, nullptr), 0);
}

// The program's handler was there first: ours takes what is ours, and hands the rest on.
void HandlerInFront() {
  volatile char* const page = Inaccessible();
  HandleBy(&JumpBack);
  RW_CHECK_EQ(CopyFrom(const_cast<char*>(page)), ACL_ERROR_RT_COPY_DATA);
  RW_CHECK_EQ(static_cast<int>(g_handled), 0);
  if (sigsetjmp(g_back, 1) == 0) std::printf("%d\n", *page);
  RW_CHECK_EQ(static_cast<int>(g_handled), 1);
  RW_CHECK_EQ(CopyFrom(const_cast<char*>(page)), ACL_ERROR_RT_COPY_DATA);
}

// The program's handler came later, and has the fault.
void HandlerBehind() {
  char* const page = Inaccessible();
  Allocate();
  HandleBy(&JumpBack);
  int word[25] = {};
  RW_CHECK_EQ(CopyFrom(word), ACL_SUCCESS);
  RW_CHECK_EQ(CopyFrom(word), ACL_SUCCESS);
  if (sigsetjmp(g_back, 1) == 0) CopyFrom(page);
  RW_CHECK_EQ(static_cast<int>(g_handled), 1);
}

// Again and again from a stack for signals, which must be free each time, and with other signals blocked, which must stay so.
void AlternateStack() {
  static char stack[65536];
  const stack_t signals = {stack, 0, sizeof(stack)};
  RW_CHECK_EQ(sigaltstack(&signals, nullptr), 0);
  sigset_t blocked, now;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  RW_CHECK_EQ(pthread_sigmask(SIG_BLOCK, &blocked, nullptr), 0);
  char* const page = Inaccessible();
  for (int i = 0; i < 1000; ++i) RW_CHECK_EQ(CopyFrom(page), ACL_ERROR_RT_COPY_DATA);
  RW_CHECK_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
  for (int number = 1; number < 32; ++number) RW_CHECK_EQ(sigismember(&now, number), number == SIGUSR1 ? 1 : 0);
}

// A crash behind a recovered fault is a crash.
void CrashAfterFault() {
  RW_CHECK_EQ(CopyFrom(Inaccessible()), ACL_ERROR_RT_COPY_DATA);
  std::printf("%d\n", *static_cast<volatile char*>(Inaccessible()));
}

void CheckFaults() {
  process_test::ExpectClean("handler_in_front");
  process_test::ExpectClean("alternate_stack");
  process_test::Child child = process_test::RunSelf("handler_behind");
  RW_CHECK(child.ExitedWith(0));
  const auto lines = OurLines(child.err);
  RW_CHECK_EQ(lines.size(), size_t{1});
  if (lines.size() == 1) RW_CHECK(lines[0].find("507052") != std::string::npos && lines[0].find("SIGSEGV handler") != std::string::npos);
  child = process_test::RunSelf("crash_after_fault");
  if (!RW_SANITIZED) RW_CHECK(child.KilledBy(SIGSEGV));
  RW_CHECK_EQ(OurLines(child.err).size(), size_t{0});
}

void CheckCrash(const char* mode, std::initializer_list<const char*> wanted) {
  process_test::Child child = process_test::RunSelf(mode);
  if (!RW_SANITIZED && !child.KilledBy(SIGSEGV)) process_test::Fail(__FILE__, __LINE__, std::string(mode) + ": " + child.Describe());
  auto lines = OurLines(child.err);
  RW_CHECK_EQ(lines.size(), size_t{1});
  if (lines.size() != 1) return;
  std::string pointer = child.out.substr(0, child.out.find('\n'));
  RW_CHECK(!pointer.empty());
  if (lines[0].find(pointer) == std::string::npos) process_test::Fail(__FILE__, __LINE__, pointer + " not in: " + lines[0]);
  for (const char* word : wanted) {
    if (lines[0].find(word) == std::string::npos) {
      process_test::Fail(__FILE__, __LINE__, std::string(mode) + ": no \"" + word + "\" in: " + lines[0]);
    }
  }
}

void All() {
  // aclrtMalloc reserves the request rounded up to 32 bytes, and 32 more.
  CheckCrash("read", {"aclrtMalloc", "123", "5056", "device 0"});
  CheckCrash("write", {"aclrtMalloc", "123", "5056", "device 0"});
  CheckCrash("read_freed", {});
  CheckCrash("read_alias", {"alias", "registered", "123", "5000", "ROPEWAY_HOST_ACCESS"});
  CheckCrash("read_remote", {"another host", "HcclMemcpyAsync"});
  CheckFaults();
  if (!RW_SANITIZED) {
    process_test::Child child = process_test::RunSelf("read_elsewhere");
    RW_CHECK(child.KilledBy(SIGSEGV));
    RW_CHECK_EQ(child.err, std::string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"read", &Read},
                             {"write", &Write},
                             {"read_freed", &ReadFreed},
                             {"read_alias", &ReadAlias},
                             {"read_remote", &ReadRemote},
                             {"read_elsewhere", &ReadElsewhere},
                             {"handler_in_front", &HandlerInFront},
                             {"handler_behind", &HandlerBehind},
                             {"alternate_stack", &AlternateStack},
                             {"crash_after_fault", &CrashAfterFault}});
}
