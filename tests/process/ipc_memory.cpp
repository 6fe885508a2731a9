// Device memory that processes share by key: the same bytes on both sides, whoever may not have them is refused, and nothing
// hangs, breaks or stays behind when a process dies. Each case is a process of its own with partners that it forks first.
#include <dirent.h>
#include <sched.h>

#include <array>
#include <fstream>
#include <memory>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/partner.h"

namespace {

using process_test::Link;
using process_test::Partner;

constexpr size_t kMiB = size_t{1} << 20;
using Key = std::array<char, 65>;

char* Allocate(size_t size, int device = 0) {
  void* block = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return static_cast<char*>(block);
}

Key Export(void* block, size_t size, uint64_t flags = 1) {
  Key key{};
  RW_CHECK_EQ(aclrtIpcMemGetExportKey(block, size, key.data(), key.size(), flags), ACL_SUCCESS);
  return key;
}

char* Import(const Key& key) {
  void* block = nullptr;
  const aclError code = aclrtIpcMemImportByKey(&block, key.data(), 0);
  RW_CHECK_EQ(code, ACL_SUCCESS);
  if (code != ACL_SUCCESS) std::cerr << aclGetRecentErrMsg() << std::endl;
  return static_cast<char*>(block);
}

aclError TryImport(const Key& key) {
  void* block = nullptr;
  return aclrtIpcMemImportByKey(&block, key.data(), 0);
}

void Fill(void* block, size_t size, char value) { RW_CHECK_EQ(aclrtMemset(block, size, value, size), ACL_SUCCESS); }

bool Holds(const void* block, size_t size, char value) {
  std::string bytes(size, '\0');
  RW_CHECK_EQ(aclrtMemcpy(bytes.data(), size, block, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return bytes == std::string(size, value);
}

size_t EntriesOf(const char* folder) {
  size_t count = 0;
  DIR* entries = opendir(folder);
  while (readdir(entries) != nullptr) ++count;
  closedir(entries);
  return count;
}

size_t Lines(const char* file) {
  std::ifstream text(file);
  size_t count = 0;
  for (std::string line; std::getline(text, line);) ++count;
  return count;
}

size_t ResidentPages() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

void BothSidesSeeTheSameBytes() {
  Partner other([](Link link) {
    const Key key = link.Get<Key>();
    char* mine = Allocate(4 * kMiB, 1);
    char* theirs = Import(key);
    RW_CHECK(Holds(theirs, 3 * kMiB, 'a'));
    Fill(mine, 4 * kMiB, 'b');
    aclrtStream stream = nullptr;
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemcpyAsync(theirs + kMiB, kMiB, mine, kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    link.Go();
    link.Await();
    RW_CHECK(Holds(theirs, kMiB, 'c'));
    RW_CHECK_EQ(aclrtMemcpy(theirs + 2 * kMiB, 2 * kMiB, mine, 2 * kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemset(theirs, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
    RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_ERROR_RT_PARAM_INVALID);
  });
  char* block = Allocate(3 * kMiB);
  Fill(block, 3 * kMiB, 'a');
  const Key key = Export(block, 3 * kMiB);
  other.link.Send(key);
  other.link.Await();
  RW_CHECK(Holds(block, kMiB, 'a'));
  RW_CHECK(Holds(block + kMiB, kMiB, 'b'));
  Fill(block, kMiB, 'c');
  other.link.Go();
}

void OnlyThoseOnTheListAreAdmitted() {
  Partner other([](Link link) {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const Key key = link.Get<Key>();
    RW_CHECK_EQ(TryImport(key), ACL_ERROR_RT_NO_PERMISSION);
    int32_t pid = 0;
    RW_CHECK_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
    link.Send(pid);
    link.Await();
    RW_CHECK(Holds(Import(key), 1000, 'l'));
  });
  char* block = Allocate(1000);
  Fill(block, 1000, 'l');
  const Key key = Export(block, 1000, 0);
  RW_CHECK(Holds(Import(key), 1000, 'l'));  // the exporter itself is always admitted
  RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  other.link.Send(key);
  int32_t pid = other.link.Get<int32_t>();
  RW_CHECK_EQ(aclrtIpcMemSetImportPid(key.data(), &pid, 1), ACL_SUCCESS);
  other.link.Go();
}

void AnotherUserIsRefused() {
  if (geteuid() != 0) {
    std::cerr << "SKIPPED: another user's process cannot be tried without being root" << std::endl;
    return;
  }
  Partner other([](Link link) {
    ropewayGetEngineName();  // whose library may lie where the other user cannot read
    RW_CHECK_EQ(setuid(65534), 0);
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK(TryImport(link.Get<Key>()) != ACL_SUCCESS);
  });
  char* block = Allocate(4096);
  other.link.Send(Export(block, 4096));
  char end;
  RW_CHECK(!other.link.Receive(&end));
}

void KeysThatNameNothingAreRefused() {
  char* block = Allocate(4096);
  const Key key = Export(block, 4096);
  Key forged = key;
  forged[40] = forged[40] == '0' ? '1' : '0';
  RW_CHECK_EQ(TryImport(forged), ACL_ERROR_RT_PARAM_INVALID);
  Key foreign = key;
  foreign[3] = foreign[3] == '0' ? '1' : '0';
  RW_CHECK_EQ(TryImport(foreign), ACL_ERROR_RT_PARAM_INVALID);
  Key truncated = key;
  truncated[63] = 0;
  RW_CHECK_EQ(TryImport(truncated), ACL_ERROR_RT_PARAM_INVALID);
  Key nonsense = key;
  nonsense[0] = 'X';
  RW_CHECK_EQ(TryImport(nonsense), ACL_ERROR_RT_PARAM_INVALID);
  const Key second = Export(block, 4096);
  RW_CHECK(second != key);
  RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  RW_CHECK_EQ(TryImport(key), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(TryImport(second), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtIpcMemClose(second.data()), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  RW_CHECK_EQ(TryImport(second), ACL_ERROR_RT_PARAM_INVALID);
}

void ImportsOutliveTheExporter() {
  Partner exporter([](Link link) {
    char* block = Allocate(2 * kMiB);
    Fill(block, 2 * kMiB, 'e');
    link.Send(Export(block, 2 * kMiB));
    link.Await();
  });
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const Key key = exporter.link.Get<Key>();
  char* theirs = Import(key);
  char* mine = Allocate(2 * kMiB);
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  for (int i = 0; i < 500; ++i)  // more than are done when the exporter dies
    RW_CHECK_EQ(aclrtMemcpyAsync(mine, 2 * kMiB, theirs, 2 * kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  exporter.Kill();
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK(Holds(mine, 2 * kMiB, 'e'));
  RW_CHECK(Holds(theirs, 2 * kMiB, 'e'));
  Fill(theirs, kMiB, 'f');
  RW_CHECK(Holds(theirs, kMiB, 'f'));
  RW_CHECK_EQ(TryImport(key), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  RW_CHECK_EQ(TryImport(key), ACL_ERROR_RT_PARAM_INVALID);
}

// Whoever writes into memory that is freed on the other side disturbs nobody.
void AFreedBlockStaysApartWhileItIsImported() {
  Partner other([](Link link) {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    char* theirs = Import(link.Get<Key>());
    link.Go();
    for (char go; link.Receive(&go);) Fill(theirs, 1024, 'w');
  });
  char* block = Allocate(1024);
  other.link.Send(Export(block, 1024));
  other.link.Await();
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  std::vector<char*> blocks;
  for (int i = 0; i < 3000; ++i) {
    blocks.push_back(Allocate(1024));
    RW_CHECK(blocks.back() != block);
  }
  for (char* other_block : blocks) Fill(other_block, 1024, 'm');
  for (int i = 0; i < 20; ++i) other.link.Go();
  for (char* other_block : blocks) RW_CHECK(Holds(other_block, 1024, 'm'));
}

void AKilledImporterLeavesNothingBehind() {
  char pending;
  std::array<std::unique_ptr<Partner>, 4> others;
  for (auto& other : others) {
    other = std::make_unique<Partner>([](Link link) {
      RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      char* theirs = Import(link.Get<Key>());
      char* mine = Allocate(16 * kMiB);
      aclrtStream stream = nullptr;
      RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      link.Go();
      for (;;) {  // until it is killed, in the middle of a copy
        RW_CHECK_EQ(aclrtMemcpyAsync(theirs, 16 * kMiB, mine, 16 * kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
        RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      }
    });
  }
  char* block = Allocate(16 * kMiB);
  const Key key = Export(block, 16 * kMiB);
  const size_t descriptors = EntriesOf("/proc/self/fd");
  for (auto& other : others) {
    other->link.Send(key);
    other->link.Await();
  }
  for (auto& other : others) other->Kill();
  RW_CHECK(!others[0]->link.Receive(&pending));
  // The service hears of it in its own time; the block can be freed, and its bytes be had again, at once.
  RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
  while (EntriesOf("/proc/self/fd") > descriptors) sched_yield();
  char* again = Allocate(16 * kMiB);
  RW_CHECK(Holds(again, kMiB, 0));
  others = {};
}

void TenThousandCyclesLeaveNothing() {
  const int cycles = RW_SANITIZED ? 1000 : 10000;
  char* block = Allocate(2 * kMiB);
  auto cycle = [&] {
    const Key key = Export(block, 2 * kMiB);
    Import(key);
    RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtIpcMemClose(key.data()), ACL_SUCCESS);
  };
  for (int i = 0; i < cycles / 10; ++i) cycle();
  const size_t descriptors = EntriesOf("/proc/self/fd"), maps = Lines("/proc/self/maps"), resident = ResidentPages();
  const size_t shared_files = EntriesOf("/dev/shm");
  for (int i = 0; i < cycles; ++i) cycle();
  while (EntriesOf("/proc/self/fd") > descriptors + 4) sched_yield();  // the service closes its ends in its own time
  RW_CHECK(Lines("/proc/self/maps") <= maps + 4);
  if (!RW_SANITIZED) RW_CHECK(ResidentPages() <= resident + 512);
  RW_CHECK_EQ(EntriesOf("/dev/shm"), shared_files);
}

// One process per device, each writes into its neighbour's memory.
void EightProcessesInARing() {
  constexpr int kRanks = 8;
  std::vector<std::unique_ptr<Partner>> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(std::make_unique<Partner>([rank](Link link) {
      char* mine = Allocate(kMiB, rank);
      link.Send(Export(mine, kMiB));
      char* next = Import(link.Get<Key>());
      char* source = Allocate(kMiB, rank);
      Fill(source, kMiB, static_cast<char>('A' + rank));
      aclrtStream stream = nullptr;
      RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtMemcpyAsync(next, kMiB, source, kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      link.Go();
      link.Await();
      RW_CHECK(Holds(mine, kMiB, static_cast<char>('A' + (rank + kRanks - 1) % kRanks)));
    }));
  }
  std::vector<Key> keys;
  for (auto& rank : ranks) keys.push_back(rank->link.Get<Key>());
  for (size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank]->link.Send(keys[(rank + 1) % ranks.size()]);
  for (auto& rank : ranks) rank->link.Await();
  for (auto& rank : ranks) rank->link.Go();
}

constexpr process_test::Mode kCases[] = {
    {"both_sides_see_the_same_bytes", BothSidesSeeTheSameBytes},
    {"only_those_on_the_list_are_admitted", OnlyThoseOnTheListAreAdmitted},
    {"another_user_is_refused", AnotherUserIsRefused},
    {"keys_that_name_nothing_are_refused", KeysThatNameNothingAreRefused},
    {"imports_outlive_the_exporter", ImportsOutliveTheExporter},
    {"a_freed_block_stays_apart", AFreedBlockStaysApartWhileItIsImported},
    {"a_killed_importer_leaves_nothing", AKilledImporterLeavesNothingBehind},
    {"ten_thousand_cycles", TenThousandCyclesLeaveNothing},
    {"eight_processes_in_a_ring", EightProcessesInARing},
};

void All() {
  for (const auto& one : kCases) process_test::ExpectClean(one.name);
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, All,
                            {kCases[0], kCases[1], kCases[2], kCases[3], kCases[4], kCases[5], kCases[6], kCases[7], kCases[8]});
}
