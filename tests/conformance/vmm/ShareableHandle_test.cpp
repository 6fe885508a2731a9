// Shareable handles, as far as one process can see them: arguments, what may be exported, and that nobody imports from himself.
// What happens between processes is in tests/process/shared_physical.cpp.
#include <unistd.h>

#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace shareable_handle_test {

using ShareableHandle = DeviceTest;
using ShareableHandleBare = BareTest;

constexpr auto kNone = ACL_MEM_HANDLE_TYPE_NONE;
constexpr auto kDefault = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
constexpr auto kFabric = ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;

struct Args : bytes::CallArgs {
  aclrtDrvMemHandle handle = nullptr;
  bool null_out = false;
  bool null_in = false;
  int type = kDefault;
  int handle_type = kNone;
  uint64_t flags = 0;
  int32_t device = 0;
  bool null_pid = false;
  size_t pids = 1;
};

TEST_F(ShareableHandle, ExportChecks) {
  uint64_t shareable = 77;
  Physical memory;
  Args valid;
  valid.handle = memory.get();
  const std::vector<bytes::Check<Args>> checks = {
      {"handle NULL", kOuter, [](Args& a) { a.handle = nullptr; }},
      {"shareableHandle NULL", kOuter, [](Args& a) { a.null_out = true; }},
      {"handle type", kOuter, [](Args& a) { a.handle_type = ACL_MEM_HANDLE_TYPE_POSIX; }},
      {"flags 2", kBad, [](Args& a) { a.flags = 2; }},
      {"no handle", kBad, [](Args& a) { a.handle = Nonsense(); }},
  };
  auto call = [&](const Args& a) {
    return aclrtMemExportToShareableHandle(a.handle, static_cast<aclrtMemHandleType>(a.handle_type), a.flags,
                                           a.null_out ? nullptr : &shareable);
  };
  bytes::ExpectCheckOrder("aclrtMemExportToShareableHandle", valid, checks, call, [&] { EXPECT_EQ(shareable, 77u); });
  EXPECT_NE(shareable, 77u);
}

TEST_F(ShareableHandle, ExportV2Checks) {
  aclrtMemFabricHandle shareable = {};
  Physical memory;
  Args valid;
  valid.handle = memory.get();
  const std::vector<bytes::Check<Args>> checks = {
      {"handle NULL", kOuter, [](Args& a) { a.handle = nullptr; }},
      {"shareableHandle NULL", kOuter, [](Args& a) { a.null_out = true; }},
      {"flags 2", kBad, [](Args& a) { a.flags = 2; }},
      {"share type 3", kBad, [](Args& a) { a.type = 3; }},
      {"fabric on A2", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.type = a.type == 3 ? 3 : kFabric; }},
      {"no handle", kBad, [](Args& a) { a.handle = Nonsense(); }},
  };
  auto call = [&](const Args& a) {
    return aclrtMemExportToShareableHandleV2(a.handle, a.flags, static_cast<aclrtMemSharedHandleType>(a.type),
                                             a.null_out ? nullptr : &shareable);
  };
  const aclrtMemFabricHandle untouched = {};
  bytes::ExpectCheckOrder("aclrtMemExportToShareableHandleV2", valid, checks, call,
                          [&] { EXPECT_EQ(std::memcmp(&shareable, &untouched, sizeof(untouched)), 0); });
  EXPECT_NE(std::memcmp(&shareable, &untouched, sizeof(uint64_t)), 0);
  EXPECT_EQ(std::memcmp(shareable.data + 8, untouched.data, sizeof(untouched) - 8), 0) << "a number has 8 bytes";
}

TEST_F(ShareableHandleBare, ExportNeedsNoContext) {
  Physical memory;
  uint64_t shareable = 0;
  EXPECT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 0, &shareable), ACL_SUCCESS);
}

TEST_F(ShareableHandle, OneHandleIsExportedOnce) {
  Physical memory, other;
  uint64_t first = 0, second = 77;
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 0, &first), ACL_SUCCESS);
  bytes::ExpectText(kBad, {"exported before"}, [&] { return aclrtMemExportToShareableHandle(memory.get(), kNone, 0, &second); });
  EXPECT_EQ(aclrtMemExportToShareableHandleV2(memory.get(), 0, kDefault, &second), kBad);
  EXPECT_EQ(second, 77u);
  ASSERT_EQ(aclrtMemExportToShareableHandle(other.get(), kNone, 1, &second), ACL_SUCCESS);
  EXPECT_NE(first, second);
}

TEST_F(ShareableHandle, ImportChecks) {
  Physical memory;
  uint64_t own = 0;
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 1, &own), ACL_SUCCESS);
  aclrtDrvMemHandle handle = Nonsense();
  EXPECT_EQ(aclrtMemImportFromShareableHandle(own, 99, nullptr), kOuter);
  EXPECT_EQ(aclrtMemImportFromShareableHandle(own, 99, &handle), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(bytes::OnFreshThread([&] { return aclrtMemImportFromShareableHandle(own, 99, &handle); }), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(bytes::OnFreshThread([&] { return aclrtMemImportFromShareableHandle(own, 0, &handle); }), ACL_ERROR_RT_CONTEXT_NULL);
  bytes::ExpectText(kBad, {"this process"}, [&] { return aclrtMemImportFromShareableHandle(own, 0, &handle); });
  for (const uint64_t nobodys : {uint64_t{0}, uint64_t{1}, own ^ 1, ~own}) {
    EXPECT_EQ(aclrtMemImportFromShareableHandle(nobodys, 0, &handle), kBad);
  }
  EXPECT_EQ(handle, Nonsense());
}

TEST_F(ShareableHandle, ImportV2Checks) {
  Physical memory;
  uint64_t own = 0;
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 1, &own), ACL_SUCCESS);
  aclrtDrvMemHandle handle = Nonsense();
  Args valid;
  const std::vector<bytes::Check<Args>> checks = {
      {"shareableHandle NULL", kOuter, [](Args& a) { a.null_in = true; }},
      {"handle NULL", kOuter, [](Args& a) { a.null_out = true; }},
      {"flags 1", kOuter, [](Args& a) { a.flags = 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"share type 3", kBad, [](Args& a) { a.type = 3; }},
      {"fabric on A2", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.type = a.type == 3 ? 3 : kFabric; }},
  };
  auto call = [&](const Args& a) {
    // There is no good import in one process: "own" is refused last.
    const aclError code = aclrtMemImportFromShareableHandleV2(a.null_in ? nullptr : &own, static_cast<aclrtMemSharedHandleType>(a.type),
                                                              a.flags, a.null_out ? nullptr : &handle);
    const bool all_good = !a.null_in && !a.null_out && a.flags == 0 && !a.without_context && a.type == kDefault;
    if (!all_good) return code;
    EXPECT_EQ(code, kBad);
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    TakeErrorText();
    return aclError{ACL_SUCCESS};
  };
  bytes::ExpectCheckOrder("aclrtMemImportFromShareableHandleV2", valid, checks, call, [&] { EXPECT_EQ(handle, Nonsense()); });
}

TEST_F(ShareableHandle, SetPidChecks) {
  Physical memory;
  uint64_t own = 0;
  int32_t pids[2] = {getpid(), 1};
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 0, &own), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(own, nullptr, 2), kOuter);
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(own, pids, 0), kOuter);
  bytes::ExpectText(kBad, {"not exported by this process"}, [&] { return aclrtMemSetPidToShareableHandle(own ^ 1, pids, 2); });
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(own, pids, 2), ACL_SUCCESS);
}

TEST_F(ShareableHandle, SetPidV2Checks) {
  Physical memory;
  uint64_t own = 0;
  int32_t pid = getpid();
  ASSERT_EQ(aclrtMemExportToShareableHandleV2(memory.get(), 0, kDefault, &own), ACL_SUCCESS);
  const std::vector<bytes::Check<Args>> checks = {
      {"shareableHandle NULL", kOuter, [](Args& a) { a.null_in = true; }},
      {"pid NULL", kOuter, [](Args& a) { a.null_pid = true; }},
      {"pidNum 0", kOuter, [](Args& a) { a.pids = 0; }},
      {"share type 0", kBad, [](Args& a) { a.type = 0; }},
      {"fabric on A2", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.type = a.type == 0 ? 0 : kFabric; }},
  };
  auto call = [&](const Args& a) {
    return aclrtMemSetPidToShareableHandleV2(a.null_in ? nullptr : &own, static_cast<aclrtMemSharedHandleType>(a.type),
                                             a.null_pid ? nullptr : &pid, a.pids);
  };
  bytes::ExpectCheckOrder("aclrtMemSetPidToShareableHandleV2", Args{}, checks, call, [] {});
}

TEST_F(ShareableHandle, TheExportEndsWithTheMemory) {
  Physical memory;
  Range range(kUnit);
  Mapped mapped(range.get(), memory);
  uint64_t own = 0;
  int32_t pid = getpid();
  ASSERT_EQ(aclrtMemExportToShareableHandle(memory.get(), kNone, 0, &own), ACL_SUCCESS);
  memory.Free();
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(own, &pid, 1), ACL_SUCCESS) << "it is mapped still";
  mapped.Unmap();
  EXPECT_EQ(aclrtMemSetPidToShareableHandle(own, &pid, 1), kBad);
}

}  // namespace shareable_handle_test
}  // namespace ropeway_test::vmm
