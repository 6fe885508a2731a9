// Random batches against a plain reference: sizes from a byte to megabytes at any address, pinned and pageable items
// together, both directions, all four functions. After each round every byte of the memory it could have written is
// compared, so that a byte outside the items is seen as well. ROPEWAY_BATCH_ROUNDS sets the number of rounds,
// ROPEWAY_BATCH_SEED the first seed; a failure prints the seed of its round.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/conformance/copy/batch_args.h"
#include "tests/support/sanitized.h"

namespace ropeway_test {
namespace {

using bytes::Batch;
using bytes::BatchForm;
using bytes::kMiB;

constexpr size_t kMostItems = 5000;
constexpr size_t kMostSyncItems = 4096;
constexpr size_t kBudget = (kSanitized ? 4 : 24) * kMiB;
constexpr size_t kLargest = kSanitized ? kMiB : 8 * kMiB;
constexpr size_t kPool = kBudget + kMiB;  // room for the gaps
constexpr size_t kRenewed = kMiB;

uint64_t Setting(const char* name, uint64_t standard) {
  const char* text = std::getenv(name);
  return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

// The generator of the bytes: much faster than the standard ones.
void FillRandom(uint8_t* data, size_t size, uint64_t seed) {
  for (size_t i = 0; i + 8 <= size; i += 8) {
    seed += 0x9E3779B97F4A7C15u;
    uint64_t word = (seed ^ (seed >> 31)) * 0xBF58476D1CE4E5B9u;
    word ^= word >> 29;
    std::memcpy(data + i, &word, 8);
  }
}

// Memory that batches use, and the bytes that it must hold.
struct Pool {
  const char* name;
  char* base;
  std::vector<uint8_t> model = std::vector<uint8_t>(kPool);
};

// Items that follow each other on both sides, so that they can be joined into one copy.
struct Chunk {
  size_t pool;  // on the host side: 0 pinned, 1 pageable
  size_t size = 0;
  size_t device_at = 0;
  size_t host_at = 0;
};
struct Item {
  size_t chunk;
  size_t offset;  // in the chunk
  size_t size;
};

// What one seed stands for: the items, where they lie, and the arrays of the call.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed), to_device(Below(2) == 0) {
    DrawItems();
    LayOut(&Chunk::device_at, [](const Chunk&) { return true; });
    LayOut(&Chunk::host_at, [](const Chunk& chunk) { return chunk.pool == 0; });
    LayOut(&Chunk::host_at, [](const Chunk& chunk) { return chunk.pool == 1; });
    Shuffle();
    const BatchForm forms[] = {bytes::kBatchAsync, bytes::kBatchAsyncV2, bytes::kBatch, bytes::kBatchV2};
    form = forms[Below(items.size() > kMostSyncItems ? 2 : 4)];
  }

  Batch Arrays(const Pool& device, const Pool (&host)[2]) {
    Batch batch;
    for (const Item& item : items) {
      const Chunk& chunk = chunks[item.chunk];
      char* there = device.base + chunk.device_at + item.offset;
      char* here = host[chunk.pool].base + chunk.host_at + item.offset;
      if (batch.count == 0 || Below(64) == 0) Declare(batch);
      to_device ? batch.Add(there, here, item.size) : batch.Add(here, there, item.size);
    }
    return batch;
  }

  void Apply(Pool& device, Pool (&host)[2]) const {
    for (const Item& item : items) {
      const Chunk& chunk = chunks[item.chunk];
      uint8_t* there = device.model.data() + chunk.device_at + item.offset;
      uint8_t* here = host[chunk.pool].model.data() + chunk.host_at + item.offset;
      to_device ? std::memcpy(there, here, item.size) : std::memcpy(here, there, item.size);
    }
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }
  size_t LogUniform(size_t most) {
    const double exponent = std::uniform_real_distribution<double>(0, std::log(static_cast<double>(most) + 1))(random_);
    return std::clamp(static_cast<size_t>(std::exp(exponent)), size_t{1}, most);
  }

  // The more items, the smaller the largest of them, so that all of them fit and none is cut down to almost nothing.
  void DrawItems() {
    const size_t count = LogUniform(kMostItems);
    const size_t most = std::clamp(8 * kBudget / count, size_t{64}, kLargest);
    const size_t joined_of_16 = std::array<size_t, 3>{0, 8, 15}[Below(3)];
    const size_t pageable_of_16 = std::array<size_t, 5>{0, 0, 1, 8, 16}[Below(5)];
    size_t left = kBudget;
    for (size_t i = 0; i < count; ++i) {
      const size_t size = std::min(LogUniform(most), left - (count - 1 - i));
      left -= size;
      if (i == 0 || Below(16) >= joined_of_16) {
        Chunk& next = chunks.emplace_back();
        next.pool = Below(16) < pageable_of_16 ? 1 : 0;
      }
      Chunk& chunk = chunks.back();
      items.push_back({chunks.size() - 1, chunk.size, size});
      chunk.size += size;
    }
  }

  // Gives the chunks that `belongs` admits a place each, with gaps up to a limit, in their order or in any other.
  template <typename Predicate>
  void LayOut(size_t Chunk::*place, Predicate belongs) {
    std::vector<Chunk*> order;
    for (Chunk& chunk : chunks) {
      if (belongs(chunk)) order.push_back(&chunk);
    }
    if (Below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    const size_t gap_limit = std::array<size_t, 3>{1, 8, 64}[Below(3)];
    size_t total = 0;
    for (Chunk* chunk : order) total += chunk->size + gap_limit - 1;
    size_t offset = Below(kPool - total + 1);
    for (Chunk* chunk : order) {
      chunk->*place = offset;
      offset += chunk->size + Below(gap_limit);
    }
  }

  void Shuffle() {
    const size_t way = Below(4);
    if (way == 0) std::reverse(items.begin(), items.end());
    if (way == 1) std::shuffle(items.begin(), items.end(), random_);
  }

  void Declare(Batch& batch) {
    aclrtMemLocation host = bytes::HostLocation(static_cast<uint32_t>(Below(8)));
    if (Below(2) == 0) host.type = ACL_MEM_LOCATION_TYPE_HOST_NUMA;
    to_device ? batch.Declare(bytes::DeviceLocation(), host) : batch.Declare(host, bytes::DeviceLocation());
  }

  std::mt19937_64 random_;

 public:
  const bool to_device;
  std::vector<Chunk> chunks;
  std::vector<Item> items;
  BatchForm form;
};

class BatchStorm : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    void* memory[2] = {};
    ASSERT_EQ(aclrtMalloc(&memory[0], kPool, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&memory[1], kPool), ACL_SUCCESS);
    device_.base = static_cast<char*>(memory[0]);
    host_[0].base = static_cast<char*>(memory[1]);
    host_[1].base = reinterpret_cast<char*>(pageable_.data());
    for (Pool* pool : {&device_, &host_[0], &host_[1]}) {
      FillRandom(pool->model.data(), kPool, static_cast<uint64_t>(pool->name[1]));
      ASSERT_EQ(aclrtMemcpy(pool->base, kPool, pool->model.data(), kPool, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFree(device_.base), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(host_[0].base), ACL_SUCCESS);
    StreamTest::TearDown();
  }

  void Round(uint64_t seed) {
    Draw draw(seed);
    SCOPED_TRACE("ROPEWAY_BATCH_ROUNDS=1 ROPEWAY_BATCH_SEED=" + std::to_string(seed) + " (" + draw.form.name + ", " +
                 std::to_string(draw.items.size()) + (draw.to_device ? " items to the device)" : " items to the host)"));
    Renew(seed);
    const Batch batch = draw.Arrays(device_, host_);
    size_t fail_index = 0;
    ASSERT_EQ(draw.form.Call(batch, stream_, &fail_index), ACL_SUCCESS) << "item " << fail_index;
    if (draw.form.has_index) ASSERT_EQ(fail_index, SIZE_MAX);
    if (draw.form.async) ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    draw.Apply(device_, host_);
    if (draw.to_device) return VerifyDevice();
    Verify(host_[0], host_[0].base);
    Verify(host_[1], host_[1].base);
  }

  void VerifyAll() {
    VerifyDevice();
    Verify(host_[0], host_[0].base);
    Verify(host_[1], host_[1].base);
  }

 private:
  // Copies only spread bytes: without new ones the pools would become alike, and mistakes invisible.
  void Renew(uint64_t seed) {
    for (Pool& pool : host_) {
      const size_t offset = seed * 7919 * 64 % (kPool - kRenewed);
      FillRandom(pool.model.data() + offset, kRenewed, seed + static_cast<uint64_t>(pool.name[1]));
      std::memcpy(pool.base + offset, pool.model.data() + offset, kRenewed);
    }
  }

  void VerifyDevice() {
    ASSERT_EQ(aclrtMemcpy(scratch_.data(), kPool, device_.base, kPool, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    Verify(device_, scratch_.data());
  }
  void Verify(const Pool& pool, const void* seen) {
    if (std::memcmp(seen, pool.model.data(), kPool) == 0) return;
    const auto* begin = static_cast<const uint8_t*>(seen);
    const auto wrong = std::mismatch(begin, begin + kPool, pool.model.begin());
    FAIL() << pool.name << " memory, byte " << wrong.first - begin << ": " << +*wrong.first << " instead of " << +*wrong.second;
  }

  Pool device_ = {"device", nullptr};
  Pool host_[2] = {{"pinned", nullptr}, {"pageable", nullptr}};
  std::vector<uint8_t> pageable_ = std::vector<uint8_t>(kPool);
  std::vector<uint8_t> scratch_ = std::vector<uint8_t>(kPool);
};

TEST_F(BatchStorm, EveryByteArrivesAndNoOtherMoves) {
  const uint64_t rounds = Setting("ROPEWAY_BATCH_ROUNDS", kSanitized ? 4 : 40);
  const uint64_t first_seed = Setting("ROPEWAY_BATCH_SEED", 20261115);
  for (uint64_t k = 0; k < rounds && !HasFatalFailure(); ++k) Round(first_seed + k);
  if (!HasFatalFailure()) VerifyAll();
}

}  // namespace
}  // namespace ropeway_test
