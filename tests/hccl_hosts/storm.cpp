// storm RANK SIZE FOLDER SEED [OPERATIONS]: seeded puts and gets between all ranks, 10,000 together unless it says how many. Every rank
// writes into its own slice of every other rank's region; since the operations follow from the seed, every rank can work out what its
// region must hold in the end.
#include <algorithm>
#include <random>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kSlice = 200'000;
int operations = 10'000;    // of all ranks together
constexpr int kSlots = 16;  // operations between two synchronises

struct Operation {
  uint32_t to;
  bool put;
  size_t offset;
  size_t size;
  uint32_t fill;
  unsigned items;
};

// What one rank does, from the seed alone.
class Script {
 public:
  Script(uint32_t seed, uint32_t rank, uint32_t size) : random_(seed * 1000 + rank), rank_(rank), size_(size) {}
  Operation Next() {
    Operation operation;
    operation.to = (rank_ + 1 + random_() % (size_ - 1)) % size_;
    operation.put = random_() % 2 == 0;
    // Mostly small, now and then a whole slice.
    const size_t limit = random_() % 16 == 0 ? kSlice : 5000;
    operation.offset = random_() % kSlice;
    operation.size = 1 + random_() % std::min(limit, kSlice - operation.offset);
    operation.fill = static_cast<uint32_t>(random_());
    operation.items = 1 + static_cast<unsigned>(random_() % 4);
    return operation;
  }

 private:
  std::mt19937 random_;
  const uint32_t rank_;
  const uint32_t size_;
};

void Fill(uint8_t* bytes, size_t size, uint32_t fill) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>((i * 2654435761u + fill) >> 13);
}

// One batch of up to four neighbouring pieces.
void Submit(const Rank& self, const Operation& operation, char* local, char* remote) {
  std::vector<HcclOneSideOpDesc> items;
  for (unsigned i = 0; i < operation.items; ++i) {
    const size_t begin = operation.size * i / operation.items;
    const size_t end = operation.size * (i + 1) / operation.items;
    if (begin != end) items.push_back({local + begin, remote + begin, end - begin, HCCL_DATA_TYPE_UINT8});
  }
  const auto batch = operation.put ? HcclBatchPut : HcclBatchGet;
  RW_MUST(batch(self.comm, operation.to, items.data(), static_cast<u32>(items.size()), self.stream));
}

struct Storm {
  Rank& self;
  const uint32_t seed;
  std::vector<CommMem> there;
  char* scratch;
  // What this rank's slice of each other rank holds.
  std::vector<std::vector<uint8_t>> mine;

  void Run() {
    Script script(seed, self.rank, self.size);
    std::vector<std::pair<int, std::vector<uint8_t>>> expected;  // slots of gets
    for (int i = 0; i < operations / static_cast<int>(self.size); ++i) {
      const Operation operation = script.Next();
      char* const slot = scratch + static_cast<size_t>(i % kSlots) * kSlice;
      uint8_t* const known = mine[operation.to].data() + operation.offset;
      if (operation.put) {
        Fill(known, operation.size, operation.fill);
        RW_MUST(aclrtMemcpy(slot, kSlice, known, operation.size, ACL_MEMCPY_HOST_TO_DEVICE));
      } else {
        expected.emplace_back(i % kSlots, std::vector<uint8_t>(known, known + operation.size));
      }
      Submit(self, operation, slot, static_cast<char*>(there[operation.to].addr) + self.rank * kSlice + operation.offset);
      if (i % kSlots == kSlots - 1) Settle(&expected);
    }
    Settle(&expected);
  }

  void Settle(std::vector<std::pair<int, std::vector<uint8_t>>>* expected) {
    RW_MUST(aclrtSynchronizeStream(self.stream));
    std::vector<uint8_t> got(kSlice);
    for (const auto& [slot, bytes] : *expected) {
      RW_MUST(aclrtMemcpy(got.data(), kSlice, scratch + static_cast<size_t>(slot) * kSlice, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
      RW_EXPECT(memcmp(got.data(), bytes.data(), bytes.size()) == 0);
    }
    expected->clear();
  }

  // The reference: what the others must have left in this rank's region.
  std::vector<uint8_t> Reference() const {
    std::vector<uint8_t> bytes(kSlice * self.size);
    for (uint32_t writer = 0; writer < self.size; ++writer) {
      if (writer == self.rank) continue;
      Script script(seed, writer, self.size);
      for (int i = 0; i < operations / static_cast<int>(self.size); ++i) {
        const Operation operation = script.Next();
        if (operation.put && operation.to == self.rank)
          Fill(bytes.data() + writer * kSlice + operation.offset, operation.size, operation.fill);
      }
    }
    return bytes;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  if (argc == 6) operations = atoi(argv[5]);
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), static_cast<uint32_t>(atoi(argv[2])), folder);
  // Both kinds of memory at the target.
  const CommMemType type = self.rank % 2 == 0 ? COMM_MEM_TYPE_DEVICE : COMM_MEM_TYPE_HOST;
  const size_t bytes = kSlice * self.size;
  void* const region = Allocate(type, bytes);
  void* const scratch = Allocate(COMM_MEM_TYPE_DEVICE, kSlice * kSlots);
  Storm storm{self, static_cast<uint32_t>(atoi(argv[4])), std::vector<CommMem>(self.size), static_cast<char*>(scratch),
              std::vector<std::vector<uint8_t>>(self.size, std::vector<uint8_t>(kSlice))};
  for (uint32_t peer = 0; peer < self.size; ++peer)
    if (peer != self.rank) storm.there[peer] = Open(self, peer, {{type, region, bytes}, {COMM_MEM_TYPE_DEVICE, scratch, kSlice * kSlots}});
  if (self.rank == 0) folder.Write("open", "x");
  storm.Run();
  self.Barrier();

  std::vector<uint8_t> got(bytes);
  const auto kind = type == COMM_MEM_TYPE_DEVICE ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
  RW_MUST(aclrtMemcpy(got.data(), bytes, region, bytes, kind));
  RW_EXPECT(got == storm.Reference());
  self.LeaveInPeace();
  printf("rank %u: the bytes of the reference\n", self.rank);
}
