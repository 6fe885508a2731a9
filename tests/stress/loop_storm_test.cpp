// Long loops of copies, each thread's in a stream of its own that is full most of the time, so that whoever submits helps with whatever
// runs beside others. Blocks come scattered and again and again: most tasks touch nothing of each other, some need the one in front. What a
// stream has done so far is looked at in between, by copies to the host.

#include "tests/stress/stress_util.h"

namespace ropeway_test {
namespace loop_storm_test {

constexpr size_t kPiece = 4096;
constexpr size_t kMostPieces = 16;  // of a block
constexpr size_t kSteps = Large(8000, 2500);
constexpr size_t kOften = 64, kSeldom = 2000;  // how many steps there are to a look

using Bytes = std::vector<uint8_t>;

struct Step {
  enum Kind { kIn, kInside, kSet, kLook } kind;
  size_t to, from, size;
  uint8_t value;
};

// One thread's loop, decided beforehand, since it has to be quick: what is to be done, and what the device memory would be, and would be
// seen to be, if one step was done behind the other. The fewer blocks, the sooner one comes again.
class Program {
 public:
  Program(uint32_t seed, size_t blocks, size_t steps_a_look) : random_(seed), blocks_(blocks), source_(size()), expected_(size()) {
    for (size_t i = 0; i < size(); i += 64) source_[i + i / 64 % 64] = random_.Byte();
    for (size_t i = 1; i <= kSteps; ++i) Do(i % steps_a_look == 0 ? Look() : Write());
  }
  size_t size() const { return (blocks_ + kMostPieces) * kPiece; }
  const std::vector<Step>& steps() const { return steps_; }
  const Bytes& source() const { return source_; }
  const Bytes& expected() const { return expected_; }
  const Bytes& should_see() const { return should_see_; }

 private:
  Step Look() {
    const size_t seen = should_see_.size();
    return {Step::kLook, seen, random_.Below(blocks_) * kPiece, kPiece, 0};
  }
  Step Write() {
    const Step::Kind kinds[] = {Step::kIn, Step::kIn, Step::kInside, Step::kInside, Step::kSet};
    const size_t pieces = random_.OneIn(32) ? 1 + random_.Below(kMostPieces) : 1;
    const size_t shift = random_.OneIn(16) ? random_.Below(kPiece) : 0;
    Step step{kinds[random_.Below(std::size(kinds))], random_.Below(blocks_) * kPiece + shift, random_.Below(blocks_) * kPiece,
              pieces * kPiece, random_.Byte()};
    const bool overlaps = step.to < step.from + step.size && step.from < step.to + step.size;
    if (step.kind == Step::kInside && overlaps) step.kind = Step::kSet;
    return step;
  }
  void Do(const Step& step) {
    steps_.push_back(step);
    switch (step.kind) {
      case Step::kIn: std::memcpy(&expected_[step.to], &source_[step.from], step.size); break;
      case Step::kInside: std::memcpy(&expected_[step.to], &expected_[step.from], step.size); break;
      case Step::kSet: std::memset(&expected_[step.to], step.value, step.size); break;
      case Step::kLook: {
        const auto seen = expected_.begin() + static_cast<ptrdiff_t>(step.from);
        should_see_.insert(should_see_.end(), seen, seen + static_cast<ptrdiff_t>(step.size));
      }
    }
  }

  Random random_;
  const size_t blocks_;
  Bytes source_, expected_, should_see_;
  std::vector<Step> steps_;
};

struct Memory {
  DeviceBuffer device;
  PinnedBuffer source, seen;
};

aclError Submit(const Step& step, const Memory& memory, aclrtStream stream) {
  void* const to = memory.device.at(step.to);
  void* const from = memory.device.at(step.from);
  switch (step.kind) {
    case Step::kIn: return aclrtMemcpyAsync(to, step.size, memory.source.get() + step.from, step.size, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    case Step::kInside: return aclrtMemcpyAsync(to, step.size, from, step.size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
    case Step::kSet: return aclrtMemsetAsync(to, step.size, step.value, step.size, stream);
    case Step::kLook: return aclrtMemcpyAsync(memory.seen.get() + step.to, step.size, from, step.size, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  }
  return ACL_ERROR_FAILURE;
}

void Carry(const Program& program) {
  Memory memory{DeviceBuffer(program.size()), PinnedBuffer(program.size()), PinnedBuffer(program.should_see().size())};
  memory.device.Write(Bytes(program.size()));
  std::memcpy(memory.source.get(), program.source().data(), program.size());
  aclrtStream stream;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  size_t refused = 0;
  for (const Step& step : program.steps()) refused += Submit(step, memory, stream) != ACL_SUCCESS;
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(memory.seen.get(), program.should_see().data(), memory.seen.size()), 0) << "what was seen in between";
  EXPECT_TRUE(memory.device.Read(program.size()) == program.expected()) << "what was left";
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

using LoopStorm = DeviceTest;

TEST_F(LoopStorm, StreamsThatAreFullDoAsTheyWereTold) {
  for (int round = 0; round < Rounds(2); ++round) {
    for (int threads : {1, 4}) {
      OnThreads(threads, [&](int number) {
        const auto seed = static_cast<uint32_t>(round * 16 + threads * 4 + number);
        Carry(number % 2 == 0 ? Program(seed, Large(8192, 2048), kSeldom) : Program(seed, 512, kOften));
      });
    }
  }
}

}  // namespace loop_storm_test
}  // namespace ropeway_test
