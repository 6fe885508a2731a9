// aclrtIpcMem* inside one process, which may import what it exports itself: order of checks, what an import is to other calls, and
// how exports and imports end. What needs a second process is in tests/process/ipc_memory.cpp.
#include <string>

#include "acl/acl_rt_memory_soma.h"
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test {
namespace ipc_mem_test {

using namespace bytes;

class IpcMem : public StreamTest {
 protected:
  std::string Export(const void* address, size_t size, uint64_t flags = 0) {
    char key[65] = {};
    EXPECT_EQ(aclrtIpcMemGetExportKey(const_cast<void*>(address), size, key, sizeof(key), flags), ACL_SUCCESS);
    return key;
  }
  char* Import(const std::string& key) {
    void* address = nullptr;
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, key.c_str(), 0), ACL_SUCCESS);
    return static_cast<char*>(address);
  }
  static aclError Close(const std::string& key) { return aclrtIpcMemClose(key.c_str()); }
};

struct ExportArgs : CallArgs {
  void* address;
  size_t size;
  char* key;
  size_t len = 65;
  uint64_t flags = 0;
};

TEST_F(IpcMem, ExportChecksInOrder) {
  DeviceBuffer block(4096);
  char key[65] = "untouched";
  ExportArgs valid;
  valid.address = block.get();
  valid.size = 4096;
  valid.key = key;
  ExpectCheckOrder<ExportArgs>(
      "aclrtIpcMemGetExportKey", valid,
      {{"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](ExportArgs& a) { a.address = nullptr; }},
       {"key NULL", ACL_ERROR_INVALID_PARAM, [](ExportArgs& a) { a.key = nullptr; }},
       {"size 0", ACL_ERROR_RT_PARAM_INVALID, [](ExportArgs& a) { a.size = 0; }},
       {"len 0", ACL_ERROR_RT_PARAM_INVALID, [](ExportArgs& a) { a.len = 0; }},
       {"flags 2", ACL_ERROR_RT_PARAM_INVALID, [](ExportArgs& a) { a.flags = 2; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](ExportArgs& a) { a.without_context = true; }},
       {"len 64", ACL_ERROR_RT_PARAM_INVALID, [](ExportArgs& a) { a.len = a.len == 65 ? 64 : a.len; }},
       {"a range that leaves its block", ACL_ERROR_RT_PARAM_INVALID, [](ExportArgs& a) { a.size = a.size == 4096 ? 1 << 20 : a.size; }}},
      [](const ExportArgs& a) { return aclrtIpcMemGetExportKey(a.address, a.size, a.key, a.len, a.flags); },
      [&] { EXPECT_STREQ(key, "untouched"); });
  EXPECT_EQ(std::string(key).size(), 64u);
}

TEST_F(IpcMem, OnlyLiveDeviceMemoryIsExported) {
  char key[65] = "untouched";
  PinnedBuffer pinned(4096);
  void* freed = DeviceBuffer(4096).get();
  int pageable = 0;
  for (void* address : {static_cast<void*>(pinned.get()), freed, static_cast<void*>(&pageable)})
    EXPECT_EQ(aclrtIpcMemGetExportKey(address, 64, key, sizeof(key), 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(key, "untouched");
}

TEST_F(IpcMem, AnImportIsNotExportedAgain) {
  DeviceBuffer block(4096);
  const std::string key = Export(block.get(), 4096);
  char* other = Import(key);
  char second[65] = "untouched";
  EXPECT_EQ(aclrtIpcMemGetExportKey(other, 64, second, sizeof(second), 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(second, "untouched");
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

TEST_F(IpcMem, MemoryOfAPoolIsNotExported) {
  aclrtMemPoolProps props = {};
  props.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemPool pool = nullptr;
  void* block = nullptr;
  char key[65] = "untouched";
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&block, 64, pool, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemGetExportKey(block, 64, key, sizeof(key), 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(key, "untouched");
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
}

struct ImportArgs : CallArgs {
  void** out;
  const char* key;
  uint64_t flags = 0;
};

TEST_F(IpcMem, ImportChecksInOrder) {
  DeviceBuffer block(4096);
  const std::string key = Export(block.get(), 4096), unknown(64, 'a');
  void* out = nullptr;
  ImportArgs valid;
  valid.out = &out;
  valid.key = key.c_str();
  ExpectCheckOrder<ImportArgs>(
      "aclrtIpcMemImportByKey", valid,
      {{"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](ImportArgs& a) { a.out = nullptr; }},
       {"key NULL", ACL_ERROR_INVALID_PARAM, [](ImportArgs& a) { a.key = nullptr; }},
       {"flags 2", ACL_ERROR_RT_PARAM_INVALID, [](ImportArgs& a) { a.flags = 2; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](ImportArgs& a) { a.without_context = true; }},
       {"a key that nobody knows", ACL_ERROR_RT_PARAM_INVALID, [&](ImportArgs& a) { a.key = unknown.c_str(); }}},
      [](const ImportArgs& a) { return aclrtIpcMemImportByKey(a.out, a.key, a.flags); }, [&] { EXPECT_EQ(out, nullptr); });
  EXPECT_NE(out, nullptr);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

// So an exporter can ask whether a key lives.
TEST_F(IpcMem, AKeyWhoseBlockWasFreedAdmitsNobody) {
  int32_t pid = 1;
  std::string key;
  {
    DeviceBuffer block(64);
    key = Export(block.get(), 64);
    EXPECT_EQ(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1), ACL_ERROR_RT_PARAM_INVALID);
  aclGetRecentErrMsg();
}

TEST_F(IpcMem, ThePidListNeedsAKeyOfThisProcess) {
  DeviceBuffer block(64);
  const std::string key = Export(block.get(), 64);
  int32_t pid = 1;
  EXPECT_EQ(aclrtIpcMemSetImportPid(nullptr, &pid, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtIpcMemSetImportPid(key.c_str(), nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtIpcMemSetImportPid(key.c_str(), &pid, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(bytes::OnFreshThread([&] { return aclrtIpcMemSetImportPid(key.c_str(), &pid, 1); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtIpcMemSetImportPid(std::string(64, '0').c_str(), &pid, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1), ACL_SUCCESS);
  aclrtServerPid server = {0, &pid, 1}, nobody = {0, nullptr, 1};
  EXPECT_EQ(aclrtIpcMemImportPidInterServer(nullptr, &server, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcMemImportPidInterServer(key.c_str(), nullptr, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcMemImportPidInterServer(key.c_str(), &server, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcMemImportPidInterServer(key.c_str(), &nobody, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(bytes::OnFreshThread([&] { return aclrtIpcMemImportPidInterServer(key.c_str(), &server, 1); }), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

TEST_F(IpcMem, AnImportIsTheSameMemoryAtAnotherAddress) {
  DeviceBuffer block(3 * kMiB);
  const std::string key = Export(block.at(1000), 2 * kMiB);
  char* other = Import(key);
  EXPECT_NE(other, block.at(1000));
  const auto bytes = Pattern(5000, 7);
  ASSERT_EQ(aclrtMemcpyAsync(other + 77, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  std::vector<uint8_t> seen(bytes.size());
  ASSERT_EQ(aclrtMemcpy(seen.data(), seen.size(), block.at(1077), seen.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, bytes);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

TEST_F(IpcMem, AnImportIsDeviceMemoryOfTheCurrentDevice) {
  DeviceBuffer block(4096);
  const std::string key = Export(block.get(), 4096);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  char* other = Import(key);
  aclrtPtrAttributes attributes = {};
  ASSERT_EQ(aclrtPointerGetAttributes(other, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 1u);
  void* start = nullptr;
  size_t size = 0;
  ASSERT_EQ(aclrtMemGetAddressRange(other + 100, &start, &size), ACL_SUCCESS);
  EXPECT_EQ(start, other);
  EXPECT_EQ(size, 4096u);
  EXPECT_EQ(aclrtFree(other), ACL_ERROR_RT_PARAM_INVALID) << "an import is closed, not freed";
  EXPECT_EQ(aclrtMemset(other + 4000, 200, 0, 200), ACL_ERROR_RT_PARAM_INVALID) << "and has an end";
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(other, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID) << "its device is closed";
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(IpcMem, CloseEndsTheOldestImportFirstAndTheExportLast) {
  DeviceBuffer block(64);
  const std::string key = Export(block.get(), 64);
  char* first = Import(key);
  char* second = Import(key);
  EXPECT_NE(first, second);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(first, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemset(second, 1, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  char* third = Import(key);
  EXPECT_EQ(aclrtMemset(third, 1, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtIpcMemClose(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(bytes::OnFreshThread([&] { return Close(key); }), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(IpcMem, WorkQueuedBeforeACloseStillRuns) {
  DeviceBuffer block(4096), target(4096);
  block.Write(Pattern(4096, 9));
  const std::string key = Export(block.get(), 4096);
  char* other = Import(key);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(target.get(), 4096, other, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(target.Read(4096), Pattern(4096, 9));
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

TEST_F(IpcMem, PeerAccessComesWithTheImportWhereItIsAskedFor) {
  DeviceBuffer block(64);
  const std::string key = Export(block.get(), 64);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  int32_t status = -1;
  Import(key);
  ASSERT_EQ(aclrtDevicePeerAccessStatus(1, 0, &status), ACL_SUCCESS);
  EXPECT_EQ(status, 0);
  void* other = nullptr;
  ASSERT_EQ(aclrtIpcMemImportByKey(&other, key.c_str(), 1), ACL_SUCCESS);
  for (auto [from, to] : {std::pair{0, 1}, std::pair{1, 0}}) {
    ASSERT_EQ(aclrtDevicePeerAccessStatus(from, to, &status), ACL_SUCCESS);
    EXPECT_EQ(status, 1);
  }
  ASSERT_EQ(aclrtDeviceDisablePeerAccess(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(Close(key), ACL_SUCCESS);
}

TEST_F(IpcMem, CopiesRunWhileTheBlockIsExported) {
  DeviceBuffer block(8 * kMiB);
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < 64; ++i)
      ASSERT_EQ(aclrtMemsetAsync(block.at(i * 128 * kKiB), 128 * kKiB, static_cast<int32_t>(i + 1), 128 * kKiB, stream_), ACL_SUCCESS);
    const std::string key = Export(block.get(), 8 * kMiB);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    const std::vector<uint8_t> seen = block.Read(8 * kMiB);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(seen[i * 128 * kKiB + 5], i + 1);
    EXPECT_EQ(Close(key), ACL_SUCCESS);
  }
}

}  // namespace ipc_mem_test
}  // namespace ropeway_test
