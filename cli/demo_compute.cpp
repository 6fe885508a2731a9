// The paths of the demo that write bytes which no source held: memset, memsetD32 and the reduction.
#include <algorithm>
#include <cstring>

#include "cli/demo_paths.h"

namespace ropeway::cli {
namespace {

constexpr int32_t kByte = 0x3C;
constexpr uint32_t kWord = 0xCAFEF00D;

DemoPath SetPath(const char* name, Area dst, std::function<void()> run) {
  auto check = [=] {
    std::memset(dst.bytes, kUntouched, dst.size);
    Push(dst);
    run();
    return AllBytes(dst, kByte);
  };
  return {name, dst.size, check, run, [=] { std::memset(dst.bytes, kByte, dst.size); }, ""};
}

DemoPath SetWordsPath(const char* name, Area dst, std::function<void()> run) {
  auto* words = reinterpret_cast<uint32_t*>(dst.bytes);
  const size_t count = dst.size / sizeof(uint32_t);
  auto check = [=] {
    std::memset(dst.bytes, kUntouched, dst.size);
    Push(dst);
    run();
    Pull(dst);
    return std::all_of(words, words + count, [](uint32_t word) { return word == kWord; });
  };
  return {name, dst.size, check, run, [=] { std::fill_n(words, count, kWord); }, ""};
}

// Whole numbers small enough for a float to hold their sums exactly, so every result can be compared.
float Left(size_t i) { return static_cast<float>(i % 1000); }
float Right(size_t i) { return static_cast<float>(i % 777); }

DemoPath SumPath(const Stream& stream, Area dst, Area src) {
  auto* sums = reinterpret_cast<float*>(dst.bytes);
  auto* terms = reinterpret_cast<float*>(src.bytes);
  const size_t count = dst.size / sizeof(float);
  auto run = [=, &stream] {
    RW_ACL(aclrtReduceAsync(dst.address, src.address, dst.size, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream.get(), nullptr));
    stream.Synchronize();
  };
  auto check = [=] {
    for (size_t i = 0; i < count; ++i) {
      sums[i] = Left(i);
      terms[i] = Right(i);
    }
    Push(dst);
    Push(src);
    run();
    Pull(dst);
    Pull(src);
    for (size_t i = 0; i < count; ++i) {
      if (sums[i] != Left(i) + Right(i) || terms[i] != Right(i)) return false;
    }
    return true;
  };
  auto raw = [=] {
    for (size_t i = 0; i < count; ++i) sums[i] += terms[i];
  };
  return {"reduce, sum of floats", dst.size, check, run, raw, ""};
}

}  // namespace

std::vector<DemoPath> ComputePaths(DemoMemory& memory) {
  const Stream& stream = memory.streams[0];
  const Area device = memory.device(0);
  const size_t words = device.size / sizeof(uint32_t);
  return {
      SetPath("sync memset", device, [=] { RW_ACL(aclrtMemset(device.address, device.size, kByte, device.size)); }),
      SetPath("async memset", device,
              [=, &stream] {
                RW_ACL(aclrtMemsetAsync(device.address, device.size, kByte, device.size, stream.get()));
                stream.Synchronize();
              }),
      SetWordsPath("sync memsetD32", device, [=] { RW_ACL(aclrtMemsetD32(device.address, device.size, kWord, words)); }),
      SetWordsPath("async memsetD32", device,
                   [=, &stream] {
                     RW_ACL(aclrtMemsetD32Async(device.address, device.size, kWord, words, stream.get()));
                     stream.Synchronize();
                   }),
      SumPath(stream, device, memory.device(1)),
  };
}

}  // namespace ropeway::cli
