// Host code that touches device memory dies by SIGSEGV, and one line on stderr says which pointer, which block, and
// which call made it. Other crashes are left alone.
#include <algorithm>
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

void CheckCrash(const char* mode, std::initializer_list<const char*> wanted) {
  process_test::Child child = process_test::RunSelf(mode);
  if (!RW_SANITIZED && !child.KilledBy(SIGSEGV))
    process_test::Fail(__FILE__, __LINE__, std::string(mode) + ": " + child.Describe());
  auto lines = OurLines(child.err);
  RW_CHECK_EQ(lines.size(), size_t{1});
  if (lines.size() != 1) return;
  std::string pointer = child.out.substr(0, child.out.find('\n'));
  RW_CHECK(!pointer.empty());
  if (lines[0].find(pointer) == std::string::npos)
    process_test::Fail(__FILE__, __LINE__, pointer + " not in: " + lines[0]);
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
  CheckCrash("read_remote", {"another host", "HcclMemcpyAsync"});
  if (!RW_SANITIZED) {
    process_test::Child child = process_test::RunSelf("read_elsewhere");
    RW_CHECK(child.KilledBy(SIGSEGV));
    RW_CHECK_EQ(child.err, std::string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(
      argc, argv, &All,
      {{"read", &Read}, {"write", &Write}, {"read_freed", &ReadFreed}, {"read_remote", &ReadRemote}, {"read_elsewhere", &ReadElsewhere}});
}
