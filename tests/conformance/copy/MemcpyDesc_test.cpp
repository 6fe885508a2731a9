// aclrtGetMemcpyDescSize, aclrtSetMemcpyDesc, aclrtMemcpyAsyncWithDesc: what they check, and in which order. What a
// descriptor does is tested in MemcpyDescUse_test.cpp, what bad ones do in MemcpyDescGarbage_test.cpp.
#include "tests/conformance/copy/descriptor.h"

namespace ropeway_test::bytes {
namespace memcpy_desc_test {

// --- aclrtGetMemcpyDescSize ------------------------------------------------------------------------------------------

using GetMemcpyDescSize = DeviceTest;

aclError GetSize(int kind, size_t* size) { return aclrtGetMemcpyDescSize(static_cast<aclrtMemcpyKind>(kind), size); }

TEST_F(GetMemcpyDescSize, EarlierCheckWins) {
  struct Args : CallArgs {
    int kind = kInner;
    size_t* size;
  };
  size_t size = 77;
  Args valid;
  valid.size = &size;
  const std::vector<Check<Args>> checks = {
      {"descSize NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = nullptr; }},
      {"kind 8", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = 8; }},
      {"kind 3", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.kind = 3; }},
  };
  ExpectCheckOrder(
      "aclrtGetMemcpyDescSize", valid, checks, [](const Args& a) { return GetSize(a.kind, a.size); }, [&] { EXPECT_EQ(size, 77u); });
  EXPECT_EQ(size, kDescSize);
}

TEST_F(GetMemcpyDescSize, OnlyInnerCopiesHaveDescriptors) {
  size_t size = 77;
  for (int kind : {0, 1, 2, 3, 4, 5, 7}) EXPECT_EQ(GetSize(kind, &size), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << kind;
  for (int kind : {-1, 8, 1000}) EXPECT_EQ(GetSize(kind, &size), ACL_ERROR_INVALID_PARAM) << kind;
  EXPECT_EQ(size, 77u);
}

TEST_F(GetMemcpyDescSize, NeedsNoContext) {
  size_t size = 77;
  EXPECT_EQ(OnFreshThread([&] { return GetSize(kInner, &size); }), ACL_SUCCESS);
  EXPECT_EQ(size, kDescSize);
}

// --- aclrtSetMemcpyDesc ----------------------------------------------------------------------------------------------

using SetMemcpyDesc = StreamTest;

struct SetArgs : CallArgs {
  void* desc;
  int kind = kInner;
  void* src;
  void* dst;
  size_t count = 64;
  void* config = nullptr;
};

aclError Set(const SetArgs& a) { return aclrtSetMemcpyDesc(a.desc, static_cast<aclrtMemcpyKind>(a.kind), a.src, a.dst, a.count, a.config); }

SetArgs ValidSet(const DeviceBuffer& desc, const DeviceBuffer& src, const DeviceBuffer& dst) {
  SetArgs args;
  args.desc = desc.get();
  args.src = src.get();
  args.dst = dst.get();
  return args;
}

TEST_F(SetMemcpyDesc, EarlierCheckWins) {
  DeviceBuffer desc(64), src(64), dst(64);
  PinnedBuffer pinned(64);
  int word = 0;
  desc.Write(Pattern(64, 1));
  SetArgs valid = ValidSet(desc, src, dst);
  void* freed = FreedBlock();
  const std::vector<Check<SetArgs>> checks = {
      {"desc NULL", ACL_ERROR_INVALID_PARAM, [](SetArgs& a) { a.desc = nullptr; }},
      {"kind 8", ACL_ERROR_INVALID_PARAM, [](SetArgs& a) { a.kind = 8; }},
      {"srcAddr NULL", ACL_ERROR_INVALID_PARAM, [](SetArgs& a) { a.src = nullptr; }},
      {"dstAddr NULL", ACL_ERROR_INVALID_PARAM, [](SetArgs& a) { a.dst = nullptr; }},
      {"count 0", ACL_ERROR_INVALID_PARAM, [](SetArgs& a) { a.count = 0; }},
      {"config set", ACL_ERROR_INVALID_PARAM, [&](SetArgs& a) { a.config = &word; }},
      {"kind 3", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](SetArgs& a) { a.kind = 3; }},
      {"count above 4 GiB", ACL_ERROR_RT_PARAM_INVALID, [](SetArgs& a) { a.count = 4 * kGiB + 1; }},
      {"desc misaligned", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.desc = desc.at(32); }},
      {"desc freed", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.desc = freed; }},
      {"dstAddr freed", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.dst = freed; }},
      {"srcAddr freed", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.src = freed; }},
      {"desc pinned", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.desc = pinned.get(); }},
      {"srcAddr pinned", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.src = pinned.get(); }},
      {"dstAddr pinned", ACL_ERROR_RT_PARAM_INVALID, [&](SetArgs& a) { a.dst = pinned.get(); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](SetArgs& a) { a.without_context = true; }},
  };
  ExpectCheckOrder("aclrtSetMemcpyDesc", valid, checks, Set, [&] { EXPECT_EQ(desc.Read(64), Pattern(64, 1)); });
  const Descriptor expected = Describe(src.get(), dst.get(), 64);
  EXPECT_EQ(desc.Read(kDescSize), BytesAt(&expected, kDescSize)) << "the whole descriptor is written, header zeroed";
  EXPECT_EQ(ReadBytes(desc.at(kDescSize), 32), BytesAt(Pattern(64, 1).data() + 32, 32)) << "and nothing behind it";
}

TEST_F(SetMemcpyDesc, OnlyInnerCopiesHaveDescriptors) {
  DeviceBuffer desc(64), src(64), dst(64);
  SetArgs args = ValidSet(desc, src, dst);
  for (int kind : {0, 1, 2, 3, 4, 5, 7}) {
    args.kind = kind;
    EXPECT_EQ(Set(args), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << kind;
  }
  for (int kind : {-1, 8, 1000}) {
    args.kind = kind;
    EXPECT_EQ(Set(args), ACL_ERROR_INVALID_PARAM) << kind;
  }
}

TEST_F(SetMemcpyDesc, HostMemoryIsRejectedOnEverySide) {
  DeviceBuffer desc(64), src(64), dst(64);
  PinnedBuffer pinned(64);
  alignas(64) static uint8_t pageable[64];
  alignas(64) static uint8_t registered[64];
  ASSERT_EQ(aclrtHostRegisterV2(registered, sizeof(registered), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  for (void* host : {static_cast<void*>(pinned.get()), static_cast<void*>(pageable), static_cast<void*>(registered)}) {
    for (auto side : {&SetArgs::desc, &SetArgs::src, &SetArgs::dst}) {
      SetArgs args = ValidSet(desc, src, dst);
      args.*side = host;
      EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID);
    }
  }
  EXPECT_EQ(aclrtHostUnregister(registered), ACL_SUCCESS);
}

TEST_F(SetMemcpyDesc, SourceAndDestinationNeedOneDeviceWhicheverItIs) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  SecondDevice other;
  DeviceBuffer desc(64), mine(64);
  SetArgs args = ValidSet(desc, mine, mine);
  args.src = other.block(0);
  EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID);
  args.dst = other.block(1);
  EXPECT_EQ(Set(args), ACL_SUCCESS) << "both on the other device";
  args.src = mine.get();
  EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(SetMemcpyDesc, FourGiBIsTheMost) {
  DeviceBuffer desc(64), src(64), dst(64);
  SetArgs args = ValidSet(desc, src, dst);
  args.count = 4 * kGiB;
  EXPECT_EQ(Set(args), ACL_SUCCESS) << "the ranges are looked at when the task runs";
  const Descriptor expected = Describe(src.get(), dst.get(), 0);
  EXPECT_EQ(desc.Read(kDescSize), BytesAt(&expected, kDescSize));
  for (size_t count : {4 * kGiB + 1, 8 * kGiB, SIZE_MAX}) {
    args.count = count;
    EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID) << count;
  }
  EXPECT_EQ(desc.Read(kDescSize), BytesAt(&expected, kDescSize));
}

TEST_F(SetMemcpyDesc, ActsAtOnceWhateverTheStreamsDo) {
  DeviceBuffer desc(64), src(64), dst(64);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemsetAsync(desc.get(), 64, 0xEE, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(Set(ValidSet(desc, src, dst)), ACL_SUCCESS);
  const Descriptor expected = Describe(src.get(), dst.get(), 64);
  EXPECT_EQ(desc.Read(kDescSize), BytesAt(&expected, kDescSize));
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(desc.Read(kDescSize), std::vector<uint8_t>(kDescSize, 0xEE));
}

// --- aclrtMemcpyAsyncWithDesc ----------------------------------------------------------------------------------------

using MemcpyAsyncWithDesc = StreamTest;

aclError Launch(void* desc, int kind, aclrtStream stream) {
  return aclrtMemcpyAsyncWithDesc(desc, static_cast<aclrtMemcpyKind>(kind), stream);
}

TEST_F(MemcpyAsyncWithDesc, EarlierCheckWins) {
  struct Args : CallArgs {
    void* desc;
    int kind = kInner;
    aclrtStream stream;
  };
  DeviceBuffer desc(64), src(64), dst(64);
  PinnedBuffer pinned(64);
  BadStreams bad;
  ForeignStream foreign;
  src.Write(Pattern(64, 2));
  dst.Write(Pattern(64, 3));
  ASSERT_EQ(Set(ValidSet(desc, src, dst)), ACL_SUCCESS);
  const auto set = desc.Read(kDescSize);
  Args valid;
  valid.desc = desc.get();
  valid.stream = stream_;
  void* freed = FreedBlock();
  const std::vector<Check<Args>> checks = {
      {"desc NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.desc = nullptr; }},
      {"kind 8", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = 8; }},
      {"stream NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.stream = nullptr; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"kind 3", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.kind = 3; }},
      {"desc freed", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.desc = freed; }},
      {"desc pinned", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.desc = pinned.get(); }},
      {"desc misaligned", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.desc = desc.at(32); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
  };
  auto call = [](const Args& a) { return Launch(a.desc, a.kind, a.stream); };
  ExpectCheckOrder("aclrtMemcpyAsyncWithDesc", valid, checks, call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.get()), ACL_SUCCESS);
    EXPECT_EQ(dst.Read(64), Pattern(64, 3));
    EXPECT_EQ(desc.Read(kDescSize), set);
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(dst.Read(64), Pattern(64, 2));
}

TEST_F(MemcpyAsyncWithDesc, OtherKindsAndBadStreamsAreRejected) {
  DeviceBuffer desc(64);
  BadStreams bad;
  for (int kind : {0, 1, 2, 3, 4, 5, 7}) {
    EXPECT_EQ(Launch(desc.get(), kind, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << kind;
  }
  for (int kind : {-1, 8, 1000}) EXPECT_EQ(Launch(desc.get(), kind, stream_), ACL_ERROR_INVALID_PARAM) << kind;
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(Launch(desc.get(), kInner, stream.handle), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "a refused launch was queued";
}

// The descriptor has to be device memory at a multiple of 64, for the writer and for the launch alike.
TEST_F(MemcpyAsyncWithDesc, PlaceOfTheDescriptorIsChecked) {
  DeviceBuffer desc(256), src(64), dst(64);
  alignas(64) static uint8_t pageable[64];
  PinnedBuffer pinned(64);
  SetArgs args = ValidSet(desc, src, dst);
  std::vector<void*> wrong = {pageable, pinned.get()};
  for (size_t offset : {1, 4, 8, 16, 32, 63, 65, 96}) wrong.push_back(desc.at(offset));
  for (void* place : wrong) {
    args.desc = place;
    EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID) << place;
    EXPECT_EQ(Launch(place, kInner, stream_), ACL_ERROR_RT_PARAM_INVALID) << place;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

// aclrtMalloc reserves 32 bytes more than it was asked for, so a block of 64 ends at 96.
TEST_F(MemcpyAsyncWithDesc, LastThirtyTwoBytesOfABlockAreEnough) {
  DeviceBuffer exact(64), small(32), src(64), dst(64);
  src.Write(Pattern(64, 4));
  SetArgs args = ValidSet(exact, src, dst);
  args.desc = exact.at(64);
  ASSERT_EQ(Set(args), ACL_SUCCESS);
  ASSERT_EQ(Launch(exact.at(64), kInner, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(dst.Read(64), Pattern(64, 4));
  args.desc = small.at(64);
  EXPECT_EQ(Set(args), ACL_ERROR_RT_PARAM_INVALID) << "behind the block";
  EXPECT_EQ(Launch(small.at(64), kInner, stream_), ACL_ERROR_RT_PARAM_INVALID) << "behind the block";
}

TEST_F(MemcpyAsyncWithDesc, TextNamesCallArgumentAndValue) {
  DeviceBuffer desc(64), src(64), dst(64);
  size_t size = 0;
  SetArgs args = ValidSet(desc, src, dst);
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtGetMemcpyDescSize", "kind", "77"}, [&] { return GetSize(77, &size); });
  args.count = 4 * kGiB + 1;
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtSetMemcpyDesc", "count", "4294967297"}, [&] { return Set(args); });
  args = ValidSet(desc, src, dst);
  args.dst = nullptr;
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtSetMemcpyDesc", "dstAddr"}, [&] { return Set(args); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpyAsyncWithDesc", "desc", "64"}, [&] { return Launch(desc.at(32), kInner, stream_); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtMemcpyAsyncWithDesc", "stream"}, [&] { return Launch(desc.get(), kInner, nullptr); });
}

}  // namespace memcpy_desc_test
}  // namespace ropeway_test::bytes
