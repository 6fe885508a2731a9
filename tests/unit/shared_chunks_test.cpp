// Private memory becomes shared while threads write it: no write is lost, untouched memory costs nothing, and what is freed is
// private again.
#include "engine/cpu/shared_chunks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace ropeway_unit {
namespace shared_chunks_test {

using ropeway::cpu::MemfdPages;
using ropeway::cpu::SharedChunks;

constexpr size_t kChunk = size_t{2} << 20;

SharedChunks* g_chunks;
struct sigaction g_before;

// As the library's own handler: a fault in memory that is being moved is waited out.
void OnFault(int, siginfo_t*, void*) { g_chunks->AwaitMove(); }

class SharedChunksTest : public testing::Test {
 protected:
  void SetUp() override {
    void* raw = mmap(nullptr, 9 * kChunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(raw, MAP_FAILED);
    memory_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + kChunk - 1) / kChunk * kChunk);
    raw_ = raw;
    g_chunks = &chunks_;
    struct sigaction action {};
    action.sa_sigaction = &OnFault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &g_before);
  }
  void TearDown() override {
    sigaction(SIGSEGV, &g_before, nullptr);
    munmap(raw_, 9 * kChunk);
  }
  // What another process would see.
  static const char* Other(const MemfdPages& pages) {
    return static_cast<const char*>(mmap(nullptr, pages.size(), PROT_READ, MAP_SHARED, pages.descriptor(), 0));
  }

  SharedChunks chunks_;
  char* memory_ = nullptr;
  void* raw_ = nullptr;
};

TEST_F(SharedChunksTest, TheBytesAreTheSameForBothSides) {
  std::memset(memory_, 'a', kChunk);
  memory_[2 * kChunk - 1] = 'z';
  auto pages = chunks_.Share(memory_, 2 * kChunk);
  ASSERT_NE(pages, nullptr);
  const char* other = Other(*pages);
  EXPECT_EQ(other[0], 'a');
  EXPECT_EQ(other[kChunk], 0);
  EXPECT_EQ(other[2 * kChunk - 1], 'z');
  memory_[kChunk + 5] = 'b';
  EXPECT_EQ(other[kChunk + 5], 'b');
  munmap(const_cast<char*>(other), 2 * kChunk);
}

TEST_F(SharedChunksTest, TheSecondTimeGivesTheSamePages) {
  auto pages = chunks_.Share(memory_, kChunk);
  EXPECT_EQ(chunks_.Share(memory_, kChunk), pages);
  EXPECT_NE(chunks_.Share(memory_ + kChunk, kChunk), pages);
}

TEST_F(SharedChunksTest, WhatIsRestoredIsPrivateAndZeroAgain) {
  memory_[0] = 'a';
  auto pages = chunks_.Share(memory_, kChunk);
  const char* other = Other(*pages);
  chunks_.Restore(memory_, 4 * kChunk);
  EXPECT_EQ(memory_[0], 0);
  memory_[0] = 'b';
  EXPECT_EQ(other[0], 'a') << "whoever has the pages keeps what was in them";
  EXPECT_NE(chunks_.Share(memory_, kChunk), pages);
  munmap(const_cast<char*>(other), kChunk);
}

TEST_F(SharedChunksTest, MemoryThatNobodyTouchedIsNotPopulated) {
  memory_[3 * kChunk] = 'a';
  auto pages = chunks_.Share(memory_, 8 * kChunk);
  ASSERT_NE(pages, nullptr);
  unsigned char resident[8 * kChunk / 4096];
  const char* other = Other(*pages);
  ASSERT_EQ(mincore(const_cast<char*>(other), kChunk, resident), 0);
  for (size_t i = 0; i < kChunk / 4096; ++i) ASSERT_EQ(resident[i] & 1, 0) << i;
  munmap(const_cast<char*>(other), 8 * kChunk);
}

TEST_F(SharedChunksTest, NoWriteIsLostWhileTheBytesMove) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> rounds{0};
  auto* words = reinterpret_cast<volatile uint64_t*>(memory_);
  constexpr size_t kWords = kChunk / sizeof(uint64_t);
  uint64_t written = 0;
  std::thread writer([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      ++written;
      for (size_t i = 0; i < kWords; i += 97) words[i] = written;
      rounds.store(written, std::memory_order_release);
    }
  });
  for (int round = 0; round < 50; ++round) {
    const uint64_t seen = rounds.load(std::memory_order_acquire);
    while (rounds.load(std::memory_order_acquire) == seen) std::this_thread::yield();
    ASSERT_NE(chunks_.Share(memory_, kChunk), nullptr);
    if (round % 2 == 0 && round != 48) chunks_.Restore(memory_, kChunk);
  }
  stop.store(true);
  writer.join();
  for (size_t i = 0; i < kWords; i += 97) ASSERT_EQ(words[i], written) << i;
}

TEST(MemfdPages, AFileThatCanShrinkIsNotAccepted) {
  EXPECT_EQ(MemfdPages::Adopt(memfd_create("plain", 0), 0), nullptr);
  EXPECT_EQ(MemfdPages::Adopt(-1, 0), nullptr);
}

TEST(MemfdPages, AFileThatIsTooSmallIsNotAccepted) {
  auto pages = MemfdPages::Create(kChunk);
  EXPECT_NE(MemfdPages::Adopt(dup(pages->descriptor()), kChunk), nullptr);
  EXPECT_EQ(MemfdPages::Adopt(dup(pages->descriptor()), kChunk + 1), nullptr);
}

}  // namespace shared_chunks_test
}  // namespace ropeway_unit
