// Tools shared by the conformance tests of copies and memory: the order of a call's checks as a table, what a call must
// leave in the thread's last error and error text, stream handles that must be refused, and a stream that is held back.
#pragma once

#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/support/acl_test.h"

namespace ropeway_test::bytes {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

// Runs `body` on a new thread, which has no context, and hands its result back.
template <typename Body>
auto OnFreshThread(Body body) -> decltype(body()) {
  if constexpr (std::is_void_v<decltype(body())>) {
    std::thread(body).join();
  } else {
    decltype(body()) result{};
    std::thread([&] { result = body(); }).join();
    return result;
  }
}

// Everything a caller can see of a failed call beside its outputs.
struct Outcome {
  aclError code = ACL_SUCCESS;
  aclError last_error = ACL_SUCCESS;
  std::string text;
};

template <typename Call>
Outcome Observe(Call call) {
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  TakeErrorText();
  Outcome outcome;
  outcome.code = call();
  outcome.last_error = aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  outcome.text = TakeErrorText();
  return outcome;
}

// The error model in one place: outer codes (100000 and following) are not recorded as last error, inner codes are, a
// success adds nothing, and every refusal has a text that names the call. 207000 and 200006 may or may not be recorded.
inline void ExpectReported(const Outcome& outcome, const std::string& call_name) {
#ifndef ROPEWAY_TEST_VENDOR
  if (outcome.code == ACL_SUCCESS) {
    EXPECT_EQ(outcome.text, "") << "a successful call left a text behind";
  } else {
    EXPECT_NE(outcome.text.find(call_name), std::string::npos) << "text: '" << outcome.text << "'";
  }
#endif
  if (outcome.code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT || outcome.code == ACL_ERROR_FEATURE_UNSUPPORTED) return;
  EXPECT_EQ(outcome.last_error, outcome.code / 1000 == 100 ? ACL_SUCCESS : outcome.code);
}

// One line of a function's list of checks: how to violate it, and what the call then answers.
template <typename Args>
struct Check {
  const char* what;
  aclError code;
  Callable<void(Args&)> violate;
};

// Arguments of a call whose order of checks is tested; `without_context` makes the call on a thread that has none.
struct CallArgs {
  bool without_context = false;
};

// Walks the list: every check alone, every pair, and every check together with all later ones. The earlier check has to
// win each time. `violate` of an earlier line is applied last, so it may overwrite what a later line has set.
// `expect_untouched` runs after every refused call; the valid call comes at the end, so that its effect can be seen.
template <typename Args, typename Call>
void ExpectCheckOrder(const char* call_name, const Args& valid, const std::vector<Check<Args>>& checks, Call call,
                      const Callable<void()>& expect_untouched) {
  auto expect = [&](const Args& args, aclError code, const std::string& what) {
    SCOPED_TRACE(std::string(call_name) + ": " + what);
    auto observe = [&] { return Observe([&] { return call(args); }); };
    const Outcome outcome = args.without_context ? OnFreshThread(observe) : observe();
    EXPECT_EQ(outcome.code, code);
    ExpectReported(outcome, call_name);
    if (&args != &valid) expect_untouched();
  };
  for (size_t k = 0; k < checks.size(); ++k) {
    Args alone = valid;
    checks[k].violate(alone);
    expect(alone, checks[k].code, checks[k].what);
    Args all = valid;
    for (size_t later = checks.size(); later-- > k;) checks[later].violate(all);
    expect(all, checks[k].code, std::string(checks[k].what) + " and every later check");
    for (size_t later = k + 1; later < checks.size(); ++later) {
      Args both = valid;
      checks[later].violate(both);
      checks[k].violate(both);
      expect(both, checks[k].code, std::string(checks[k].what) + " before " + checks[later].what);
    }
  }
  expect(valid, ACL_SUCCESS, "valid arguments");
}

// Expects `code`, and a text that holds every one of `words`.
template <typename Call>
void ExpectText(aclError code, const std::vector<std::string>& words, Call call) {
  const Outcome outcome = Observe(call);
  EXPECT_EQ(outcome.code, code);
#ifndef ROPEWAY_TEST_VENDOR
  for (const auto& word : words) {
    EXPECT_NE(outcome.text.find(word), std::string::npos) << "no '" << word << "' in '" << outcome.text << "'";
  }
#endif
}

// Handles that are no live stream: destroyed, of another type, and plain addresses.
class BadStreams {
 public:
  struct Entry {
    const char* what;
    aclrtStream handle;
  };

  BadStreams() {
    aclrtStream destroyed = nullptr;
    EXPECT_EQ(aclrtCreateStream(&destroyed), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(destroyed), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateEvent(&event_), ACL_SUCCESS);
    list_ = {{"a destroyed stream", destroyed},
             {"an event", event_},
             {"an address of zeros", zeros_},
             {"a small number", reinterpret_cast<aclrtStream>(uintptr_t{0x10})}};
  }
  ~BadStreams() { EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS); }
  BadStreams(const BadStreams&) = delete;
  BadStreams& operator=(const BadStreams&) = delete;

  const std::vector<Entry>& list() const { return list_; }
  aclrtStream destroyed() const { return list_[0].handle; }

 private:
  aclrtEvent event_ = nullptr;
  uint64_t zeros_[64] = {};
  std::vector<Entry> list_;
};

// A stream of another context on device 0. The thread's own context stays current.
class ForeignStream {
 public:
  ForeignStream() {
    EXPECT_EQ(aclrtGetCurrentContext(&home_), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateContext(&context_, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(home_), ACL_SUCCESS);
  }
  ~ForeignStream() {
    EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(home_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context_), ACL_SUCCESS);
  }
  ForeignStream(const ForeignStream&) = delete;
  ForeignStream& operator=(const ForeignStream&) = delete;
  aclrtStream get() const { return stream_; }
  aclrtContext context() const { return context_; }

 private:
  aclrtContext home_ = nullptr;
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};

// Holds a stream back from the moment of construction. Release() lets it run and waits for all of it.
class HeldStream {
 public:
  explicit HeldStream(aclrtStream stream) : stream_(stream) { EXPECT_EQ(gate_.Close(stream), ACL_SUCCESS); }
  ~HeldStream() { Release(); }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;

  aclError Release() {
    if (released_) return ACL_SUCCESS;
    released_ = true;
    gate_.Open();
    return aclrtSynchronizeStream(stream_);
  }

  // Lets the stream go as soon as it has reached the gate. For the time of one call that must wait for the stream.
  template <typename Call>
  aclError ReleaseDuring(Call call) {
    std::thread opener([this] {
      gate_.AwaitArrival();
      gate_.Open();
    });
    const aclError code = call();
    opener.join();
    return code;
  }

 private:
  StreamGate gate_;
  aclrtStream stream_;
  bool released_ = false;
};

inline std::vector<uint8_t> BytesAt(const void* data, size_t count) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return std::vector<uint8_t>(bytes, bytes + count);
}

inline void Fill(const PinnedBuffer& buffer, const std::vector<uint8_t>& bytes) {
  ASSERT_LE(bytes.size(), buffer.size());
  std::memcpy(buffer.get(), bytes.data(), bytes.size());
}

// A copy whose device side is not device memory: it is accepted, and fails when it runs (507013 at the next
// synchronise).
inline void QueueFailingCopy(aclrtStream stream, const DeviceBuffer& buffer) {
  static const uint8_t pageable[16] = {};
  ASSERT_EQ(aclrtMemcpyAsync(buffer.get(), buffer.size(), pageable, sizeof(pageable), ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
}

inline size_t FreeDeviceBytes() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
  return free_bytes;
}

// Runs `body(thread number)` on `count` threads that have device 0 set.
inline void OnDeviceThreads(int count, const Callable<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&body, i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body(i);
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace ropeway_test::bytes
