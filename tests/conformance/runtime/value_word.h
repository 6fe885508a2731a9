// What the tests of value write and value wait share: a 64-bit word in device memory, a mark behind a wait, and the
// state of a stream that is held up by one.
#pragma once

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {

// A block of 64 bytes ends here: aclrtMalloc reserves 32 more.
constexpr size_t kEndOf64 = 96;

inline void FillToItsEnd(const DeviceBuffer& block_of_64, const std::vector<uint8_t>& bytes) {
  ASSERT_EQ(bytes.size(), kEndOf64);
  ASSERT_EQ(aclrtMemcpy(block_of_64.get(), kEndOf64, bytes.data(), kEndOf64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

// The checks that both calls make: `call(address, flag, stream)` is valid for the block, `flag` and `stream`. After each refusal
// `expect_untouched` looks at the stream, and at one of another context.
template <typename Call, typename Untouched>
void ExpectValueChecks(const char* name, const DeviceBuffer& block_of_64, uint32_t flag, uint32_t bad_flag, aclrtStream stream, Call call,
                       Untouched expect_untouched) {
  struct Args : bytes::CallArgs {
    void* address;
    uint32_t flag;
    aclrtStream stream;
  };
  PinnedBuffer pinned(8);
  bytes::BadStreams bad;
  bytes::ForeignStream foreign;
  Args valid;
  valid.address = block_of_64.get();
  valid.flag = flag;
  valid.stream = stream;
  const std::vector<bytes::Check<Args>> checks = {
      {"devAddr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.address = nullptr; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"bad flag", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.flag = bad_flag; }},
      {"devAddr pinned", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.address = pinned.get(); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.address = block_of_64.at(kEndOf64 - 7); }},
  };
  bytes::ExpectCheckOrder(
      name, valid, checks, [&](const Args& a) { return call(a.address, a.flag, a.stream); },
      [&] {
        expect_untouched(stream);
        expect_untouched(foreign.get());
      });
}

// A word that the host reads and writes by blocking copies, which wait for no stream.
class Word {
 public:
  explicit Word(uint64_t value = 0) { Set(value); }
  void* get() const { return block_.get(); }
  void Set(uint64_t value) { EXPECT_EQ(aclrtMemcpy(block_.get(), 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS); }
  uint64_t Get() const {
    uint64_t value = 0;
    EXPECT_EQ(aclrtMemcpy(&value, 8, block_.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return value;
  }

 private:
  DeviceBuffer block_{8};
};

inline aclError WaitEqual(const Word& word, uint64_t value, aclrtStream stream) {
  return aclrtValueWait(word.get(), value, ACL_STREAM_WAIT_VALUE_EQ, stream);
}

inline aclError WaitAtLeast(const Word& word, uint64_t value, aclrtStream stream) {
  return aclrtValueWait(word.get(), value, ACL_STREAM_WAIT_VALUE_GEQ, stream);
}

inline aclError WriteTo(const Word& word, uint64_t value, aclrtStream stream) { return aclrtValueWrite(word.get(), value, 0, stream); }

// Whether the memset behind a wait has run, seen without waiting for the stream.
class Mark {
 public:
  Mark() { block_.Write(std::vector<uint8_t>(64, 1)); }
  aclError Queue(aclrtStream stream) { return aclrtMemsetAsync(block_.get(), 64, 9, 64, stream); }
  bool HasRun() const { return block_.Read(1)[0] == 9; }

 private:
  DeviceBuffer block_{64};
};

// The stream has had its chance to run, and could not.
inline void ExpectHeldUp(aclrtStream stream) {
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(StatusOf(stream), ACL_STREAM_STATUS_NOT_READY);
}

}  // namespace ropeway_test
