// Every method that this CPU has, forced on a backend: copies, rows, batches and sets arrive exactly, through the cache, around it and
// shared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/batch.h"
#include "engine/cpu/cpu_backend.h"

namespace ropeway::cpu {
namespace copy_methods_test {

constexpr size_t kRoom = 3 << 20;
constexpr uint8_t kUntouched = 0xa7;

std::vector<std::string> Methods() {
  std::vector<std::string> names;
  for (size_t i = 0; KernelsAt(i) != nullptr; ++i) names.push_back(KernelsAt(i)->name);
  return names;
}

class CopyMethodsTest : public testing::TestWithParam<std::string> {
 protected:
  CopyMethodsTest() : profile_(ThisProfile().profile), src_(kRoom), dst_(kRoom, kUntouched), expected_(dst_) {
    profile_.stream = profile_.cached = profile_.cached_long = FindKernels(GetParam().c_str())->name;
    profile_.lanes = 3;
    backend_ = std::make_unique<CpuBackend>(sharer_, false, profile_);
    std::mt19937 random(1);
    for (uint8_t& byte : src_) byte = static_cast<uint8_t>(random() % 160);
  }

  void Run(const Task& task) {
    TaskFailure failure;
    ASSERT_EQ(backend_->Start(task, {}, nullptr, &failure), 0) << failure.text;
  }
  void Expect(size_t to, size_t from, size_t size) { std::memcpy(expected_.data() + to, src_.data() + from, size); }
  bool Arrived() {
    const bool same = dst_ == expected_;
    std::fill(dst_.begin(), dst_.end(), kUntouched);
    expected_ = dst_;
    return same;
  }

  CopyProfile profile_;
  WorkSharer sharer_;
  std::unique_ptr<CpuBackend> backend_;
  std::vector<uint8_t> src_, dst_, expected_;
};

INSTANTIATE_TEST_SUITE_P(All, CopyMethodsTest, testing::ValuesIn(Methods()), [](const auto& param) { return param.param; });

TEST_P(CopyMethodsTest, CopiesArriveExactly) {
  for (CopyMethod method : {CopyMethod::kCached, CopyMethod::kStreaming, CopyMethod::kShared}) {
    for (size_t size : {1, 63, 255, 4096, 4097, 70'001, 300'000, 2'000'003}) {
      for (size_t shift : {0, 1, 63}) {
        Task task{};
        task.kind = TaskKind::kCopy;
        task.method = method;
        task.copy = {dst_.data() + 100 + shift, src_.data() + 7 * shift, size};
        Run(task);
        Expect(100 + shift, 7 * shift, size);
        ASSERT_TRUE(Arrived()) << size << " bytes, shifted by " << shift << ", method " << static_cast<int>(method);
      }
    }
  }
}

TEST_P(CopyMethodsTest, RowsArriveExactlyAndNothingBetweenThem) {
  struct Shape {
    size_t width, height, dst_pitch, src_pitch;
  };
  for (CopyMethod method : {CopyMethod::kCached, CopyMethod::kStreaming, CopyMethod::kShared}) {
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{1, 5000, 3, 2}, Shape{1000, 700, 1001, 1024}, Shape{1024, 1024, 2048, 1024},
                               Shape{300'001, 5, 300'500, 400'000}, Shape{65'536, 20, 65'536, 65'600}}) {
      Task task{};
      task.kind = TaskKind::kCopy2d;
      task.method = method;
      task.copy_2d = {dst_.data() + 3, src_.data() + 5, shape.dst_pitch, shape.src_pitch, shape.width, shape.height};
      Run(task);
      for (size_t row = 0; row < shape.height; ++row) Expect(3 + row * shape.dst_pitch, 5 + row * shape.src_pitch, shape.width);
      ASSERT_TRUE(Arrived()) << shape.height << " rows of " << shape.width << ", method " << static_cast<int>(method);
    }
  }
}

TEST_P(CopyMethodsTest, BatchesArriveExactly) {
  for (CopyMethod method : {CopyMethod::kCached, CopyMethod::kStreaming, CopyMethod::kShared}) {
    Batch batch(200);
    std::mt19937 random(2);
    size_t at = 0;
    for (int i = 0; i < 200; ++i) {
      const size_t size = 1 + random() % (i % 10 == 0 ? 100'000 : 5000);
      if (at + size + 1 > kRoom) break;
      batch.Add(dst_.data() + at, src_.data() + kRoom - at - size, size);
      Expect(at, kRoom - at - size, size);
      at += size + 1;
    }
    Task task{};
    task.kind = TaskKind::kBatch;
    task.method = method;
    task.batch = {&batch, batch.bytes()};
    Run(task);
    ASSERT_TRUE(Arrived()) << static_cast<int>(method);
  }
}

TEST_P(CopyMethodsTest, SetsArriveExactly) {
  for (CopyMethod method : {CopyMethod::kCached, CopyMethod::kStreaming}) {
    for (size_t size : {1, 255, 256, 1000, 300'001}) {
      Task task{};
      task.kind = TaskKind::kSet;
      task.method = method;
      task.set = {dst_.data() + 9, size, 0x5b};
      Run(task);
      std::memset(expected_.data() + 9, 0x5b, size);
      ASSERT_TRUE(Arrived()) << size;
    }
  }
}

}  // namespace copy_methods_test
}  // namespace ropeway::cpu
