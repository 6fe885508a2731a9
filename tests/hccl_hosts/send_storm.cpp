// send_storm RANK SIZE FOLDER SEED: seeded sends and receives between all ranks, beside puts over the same links. Everybody works
// out the whole script from the seed, so every byte that arrives is checked.
#include <algorithm>
#include <random>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kLargest = 64 << 20;
constexpr size_t kArena = kLargest + (16 << 20);
constexpr size_t kPutBytes = 300'000;
constexpr int kRounds = 40;
// In the offer, on both sides of its limit and of a chunk of the link, odd, and nothing at all.
constexpr size_t kSizes[] = {0, 1, 16384, 16385, 64512, 64513, 65536, 65537, 100'003, 1 << 20, (1 << 20) + 1, (4 << 20) + 7};

struct Message {
  uint32_t from;
  uint32_t to;
  size_t size;
  uint32_t fill;
};

// The messages of one round, the same for everybody. The first has every size around the ring, the second the largest one.
std::vector<Message> Round(uint32_t seed, int round, uint32_t ranks) {
  std::mt19937 random(seed * 1000 + static_cast<uint32_t>(round));
  std::vector<Message> messages;
  const auto add = [&](uint32_t from, uint32_t to, size_t size) { messages.push_back({from, to, size, static_cast<uint32_t>(random())}); };
  for (uint32_t rank = 0; rank < ranks && round == 1; ++rank) add(rank, (rank + 1) % ranks, kLargest);
  for (uint32_t rank = 0; rank < ranks && round == 0; ++rank)
    for (const size_t size : kSizes) add(rank, (rank + 1) % ranks, size);
  for (int i = 0; i < 10 && round > 1; ++i) {
    const auto from = static_cast<uint32_t>(random() % ranks);
    const auto step = static_cast<uint32_t>(1 + random() % (ranks - 1));
    add(from, (from + step) % ranks, kSizes[random() % (std::size(kSizes) - 1)]);
  }
  return messages;
}

void Fill(uint8_t* bytes, size_t size, uint32_t fill) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>((i * 2654435761u + fill) >> 13);
}

struct Storm {
  Rank& self;
  char* out;
  char* in;
  aclrtStream receiving = nullptr;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kLargest);

  void Run(const std::vector<Message>& messages, bool batch) {
    std::vector<HcclSendRecvItem> items;
    size_t sent = 0, received = 0;
    for (const Message& message : messages) {
      if (message.from == self.rank) {
        Fill(bytes.data(), message.size, message.fill);
        if (message.size > 0) RW_MUST(aclrtMemcpy(out + sent, kArena - sent, bytes.data(), message.size, ACL_MEMCPY_HOST_TO_DEVICE));
        items.push_back({HCCL_SEND, out + sent, message.size, HCCL_DATA_TYPE_UINT8, message.to});
        sent += message.size;
      }
      if (message.to != self.rank) continue;
      items.push_back({HCCL_RECV, in + received, message.size, HCCL_DATA_TYPE_UINT8, message.from});
      received += message.size;
    }
    RW_EXPECT(sent <= kArena && received <= kArena);
    if (batch)
      RW_MUST(HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()), self.comm, self.stream));
    else
      for (const HcclSendRecvItem& item : items) One(item);
  }

  // Sends on one stream, receives on another: in the order of the script, so none waits for what comes after it.
  void One(const HcclSendRecvItem& item) const {
    if (item.sendRecvType == HCCL_SEND)
      RW_MUST(HcclSend(item.buf, item.count, item.dataType, item.remoteRank, self.comm, self.stream));
    else
      RW_MUST(HcclRecv(item.buf, item.count, item.dataType, item.remoteRank, self.comm, receiving));
  }

  void Check(const std::vector<Message>& messages) {
    size_t received = 0;
    std::vector<uint8_t> got;
    for (const Message& message : messages) {
      if (message.to != self.rank || message.size == 0) continue;
      got.resize(message.size);
      RW_MUST(aclrtMemcpy(got.data(), got.size(), in + received, message.size, ACL_MEMCPY_DEVICE_TO_HOST));
      Fill(bytes.data(), message.size, message.fill);
      RW_EXPECT(memcmp(got.data(), bytes.data(), message.size) == 0);
      received += message.size;
    }
  }
};

// Every rank writes round after round into its right neighbour's region: the last one must be there in the end.
struct Puts {
  const Rank& self;
  char* region;
  char* source;
  CommMem there;
  aclrtStream stream = nullptr;

  void Begin(int round) {
    std::vector<uint8_t> bytes(kPutBytes);
    Fill(bytes.data(), kPutBytes, self.rank * 1000 + static_cast<uint32_t>(round));
    RW_MUST(aclrtMemcpy(source, kPutBytes, bytes.data(), kPutBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    HcclOneSideOpDesc item{source, there.addr, kPutBytes, HCCL_DATA_TYPE_UINT8};
    RW_MUST(HcclBatchPut(self.comm, (self.rank + 1) % self.size, &item, 1, stream));
  }
  void Check() const {
    std::vector<uint8_t> got(kPutBytes), expected(kPutBytes);
    Fill(expected.data(), kPutBytes, (self.rank + self.size - 1) % self.size * 1000 + kRounds - 1);
    RW_MUST(aclrtMemcpy(got.data(), kPutBytes, region, kPutBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    RW_EXPECT(got == expected);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), static_cast<uint32_t>(atoi(argv[2])), folder);
  const auto device = [](size_t bytes) { return static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, bytes)); };
  Storm storm{self, device(kArena), device(kArena)};
  RW_MUST(aclrtCreateStream(&storm.receiving));
  Puts puts{self, device(kPutBytes), device(kPutBytes), {}};
  RW_MUST(aclrtCreateStream(&puts.stream));
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Message> messages = Round(static_cast<uint32_t>(atoi(argv[4])), round, self.size);
    storm.Run(messages, round % 2 == 0);
    // The sends of the first round have made links by the time that the descriptors want one.
    for (uint32_t peer = 0; peer < self.size && round == 0; ++peer) {
      if (peer == self.rank) continue;
      const CommMem there = Open(self, peer,
                                 {{COMM_MEM_TYPE_DEVICE, puts.region, kPutBytes},  // the one to write into
                                  {COMM_MEM_TYPE_DEVICE, puts.source, kPutBytes}});
      if (peer == (self.rank + 1) % self.size) puts.there = there;
    }
    puts.Begin(round);
    for (aclrtStream stream : {self.stream, storm.receiving, puts.stream}) RW_MUST(aclrtSynchronizeStream(stream));
    storm.Check(messages);
  }
  self.Barrier();
  puts.Check();
  self.LeaveInPeace();
  printf("rank %u: every byte that was sent\n", self.rank);
}
