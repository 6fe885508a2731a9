// killed_engine RANK 4 FOLDER VICTIM MICROSECONDS: four transfer engines, each on a host of its own. 0 connects to 1 and moves bytes both
// ways; the victim, one of them, is killed so long after it has begun: while it starts, while they connect, or in the middle of a
// transfer. The other one must see a documented error wherever that meets it, and must be able to end everything; it prints how many
// milliseconds after the death it knew. 2 and 3 are not concerned: they move bytes meanwhile, and still do so when the folder says that all
// of it is over.
#include "hixl/hixl.h"
#include "tests/hccl_hosts/death.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBlock = 16 << 10, kCount = 256, kBytes = kBlock * kCount;
constexpr char kTheirs = 't';
constexpr int kPatience = 20'000;  // ms

std::string NameOf(int rank) { return "10.99.0." + std::to_string(rank + 1) + ":16000"; }

// One engine: what others read, what they write, and what it has for its own transfers.
struct Engine {
  explicit Engine(int own_rank) : rank(own_rank), memory(static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, 3 * kBytes))) {
    memset(memory, kTheirs, kBytes);
  }
  void Begin() {
    RW_MUST(engine.Initialize(NameOf(rank).c_str(), {}));
    hixl::MemHandle handle = nullptr;
    RW_MUST(engine.RegisterMem({reinterpret_cast<uintptr_t>(memory), 3 * kBytes, {}}, hixl::MEM_HOST, handle));
  }
  // Every second block of a part there, so that none are neighbours.
  hixl::Status Move(int peer, uintptr_t there, bool read, size_t count) {
    std::vector<hixl::TransferOpDesc> blocks;
    for (size_t i = 0; i < count; ++i)
      blocks.push_back(
          {reinterpret_cast<uintptr_t>(memory) + 2 * kBytes + i * kBlock, there + (read ? 0 : kBytes) + (2 * i % kCount) * kBlock, kBlock});
    char* const got = memory + 2 * kBytes;
    if (read) got[0] = got[count * kBlock - 1] = 0;
    hixl::Status status;
    do status = engine.TransferSync(NameOf(peer).c_str(), read ? hixl::READ : hixl::WRITE, blocks, kPatience);
    while (status == hixl::PARAM_INVALID);  // it takes connections, and has not come to register its memory
    RW_EXPECT(!read || status != hixl::SUCCESS || (got[0] == kTheirs && got[count * kBlock - 1] == kTheirs));
    return status;
  }
  const int rank;
  char* const memory;
  hixl::Hixl engine;
};

uintptr_t MemoryOf(int rank, const Folder& folder) { return std::stoull(folder.Await("memory" + std::to_string(rank))); }

// Until it fails, for which there is one code. Nobody may be there yet, or any more.
void Survive(Engine& self, const Folder& folder) {
  const uintptr_t there = MemoryOf(1, folder);
  const long death = DeathOf(folder);
  hixl::Status connected = hixl::FAILED;
  while (connected != hixl::SUCCESS && Now() < death) {
    connected = self.engine.Connect(NameOf(1).c_str(), kPatience);
    RW_EXPECT(connected == hixl::SUCCESS || connected == hixl::FAILED);
  }
  hixl::Status status = connected;
  for (size_t i = 0; status == hixl::SUCCESS; ++i) status = self.Move(1, there, i % 2 == 0, 1 + i * 37 % kCount);
  const long known = Now();
  RW_EXPECT(status == hixl::FAILED);
  if (connected == hixl::SUCCESS) {
    RW_EXPECT(self.Move(1, there, true, 1) == hixl::FAILED);
    RW_MUST(self.engine.Disconnect(NameOf(1).c_str()));
    RW_EXPECT(self.engine.Connect(NameOf(1).c_str(), kPatience) == hixl::FAILED);
  }
  printf("known after %ld ms\n", (known - death) / 1000);
}

// The guest is the one that dies. What waits for it is the end of a region, which it has to hear of.
void ServeTheDead(Engine& self, const Folder& folder) {
  const long death = DeathOf(folder);
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, kBlock));
  long begin = 0;
  while (begin <= death) {
    hixl::MemHandle handle = nullptr;
    RW_MUST(self.engine.RegisterMem({reinterpret_cast<uintptr_t>(memory), kBlock, {}}, hixl::MEM_HOST, handle));
    begin = Now();
    RW_MUST(self.engine.DeregisterMem(handle));
  }
  printf("known after %ld ms\n", (Now() - death) / 1000);
}

// 2 moves bytes to and from 3.
void Stand(Engine& self, const Folder& folder) {
  if (self.rank == 3) {
    folder.Await("stood2");
    return;
  }
  const uintptr_t there = MemoryOf(3, folder);
  while (self.engine.Connect(NameOf(3).c_str(), kPatience) != hixl::SUCCESS) {
  }
  int afterwards = 0;
  for (size_t i = 0; afterwards < 10; ++i) {
    afterwards += folder.Has("over");
    RW_MUST(self.Move(3, there, i % 2 == 0, 1 + i * 37 % kCount));
  }
  RW_MUST(self.engine.Disconnect(NameOf(3).c_str()));
  folder.Write("stood2", "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Folder folder(argv[3]);
  const int rank = atoi(argv[1]), victim = atoi(argv[4]);
  RW_MUST(aclInit(nullptr));
  RW_MUST(aclrtSetDevice(0));
  Engine self(rank);
  folder.Write("memory" + std::to_string(rank), std::to_string(reinterpret_cast<uintptr_t>(self.memory)));
  if (rank == victim) DieAfter(atol(argv[5]), folder);
  self.Begin();
  if (rank > 1)
    Stand(self, folder);
  else if (rank == 0)
    Survive(self, folder);
  else if (victim == 0)
    ServeTheDead(self, folder);
  while (rank == victim) pause();  // its moment comes
  self.engine.Finalize();
  RW_MUST(aclrtResetDeviceForce(0));
}
