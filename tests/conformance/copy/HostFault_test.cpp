// Host memory that is not mapped, or not writable: the call or its task answers 507052 and names the address, and everything goes on.
#include "tests/conformance/copy/batch_args.h"
#include "tests/conformance/copy/host_pages.h"

namespace ropeway_test::bytes {
namespace host_fault_test {

// From copies that one thread does through the cache to those that several do past it.
const size_t kSizes[] = {3 * kPage, 300 * kKiB, Large(9 * kMiB, 3 * kMiB)};

class HostFault : public StreamTest {
 protected:
  // Both directions between a device block and `size` bytes at `host`, whose first bad byte for either is at `bad`.
  void ExpectFaults(char* host, size_t size, const void* bad_read, const void* bad_write) {
    DeviceBuffer device(size);
    if (bad_read != nullptr) {
      ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemcpy", Show(bad_read), "read"},
                 [&] { return aclrtMemcpy(device.get(), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE); });
      ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemcpyAsync", Show(bad_read), "read"},
                 [&] { return aclrtMemcpyAsync(device.get(), size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream_); });
    }
    ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemcpy", Show(bad_write), "written"},
               [&] { return aclrtMemcpy(host, size, device.get(), size, ACL_MEMCPY_DEVICE_TO_HOST); });
    ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemcpyAsync", Show(bad_write), "written"},
               [&] { return aclrtMemcpyAsync(host, size, device.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream_); });
    ExpectStreamWorks();
  }
  void ExpectStreamWorks() {
    PinnedBuffer pinned(kMiB * 2);
    DeviceBuffer device(kMiB * 2);
    const auto bytes = Pattern(kMiB * 2, 7);
    Fill(pinned, bytes);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), device.size(), pinned.get(), pinned.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_TRUE(device.Read(bytes.size()) == bytes);
  }
};

TEST_F(HostFault, APageInTheMiddle) {
  for (size_t size : kSizes) {
    HostPages host(size);
    const size_t bad = size / 2 / kPage * kPage;
    host.Protect(bad, PROT_NONE);
    ExpectFaults(host.at(0), size, host.at(bad), host.at(bad));
    host.Protect(bad, PROT_READ);
    ExpectFaults(host.at(0), size, nullptr, host.at(bad));
  }
}

TEST_F(HostFault, AFileThatBecameShorter) {
  for (size_t size : kSizes) {
    HostPages host(size, HostPages::CutShort());
    ExpectFaults(host.at(0), size, host.at(size - kPage), host.at(size - kPage));
  }
}

TEST_F(HostFault, AddressesWithoutMemory) {
  char* const low = reinterpret_cast<char*>(uintptr_t{kPage});
  ExpectFaults(low, 100, low, low);
#if !defined(ROPEWAY_ASAN) && !defined(ROPEWAY_TSAN)  // which have no shadow for it
  char* const impossible = reinterpret_cast<char*>(uintptr_t{0xdead'beef'dead'b000});
  ExpectFaults(impossible, 100, impossible, impossible);
#endif
}

TEST_F(HostFault, BetweenHostMemory) {
  HostPages good(2 * kPage), bad(2 * kPage);
  bad.Protect(kPage, PROT_NONE);
  ExpectText(ACL_ERROR_RT_COPY_DATA, {Show(bad.at(kPage)), "written"},
             [&] { return aclrtMemcpy(bad.at(0), 2 * kPage, good.at(0), 2 * kPage, ACL_MEMCPY_HOST_TO_HOST); });
  ExpectText(ACL_ERROR_RT_COPY_DATA, {Show(bad.at(kPage)), "read"},
             [&] { return aclrtMemcpy(good.at(0), 2 * kPage, bad.at(0), 2 * kPage, ACL_MEMCPY_HOST_TO_HOST); });
}

TEST_F(HostFault, WhatIsStagedIsReadByTheCall) {
  HostPages host(2 * kPage);
  DeviceBuffer device(2 * kPage);
  host.Protect(kPage, PROT_NONE);
  ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemcpyAsync", Show(host.at(kPage))},
             [&] { return aclrtMemcpyAsync(device.get(), 2 * kPage, host.at(0), 2 * kPage, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_); });
  ExpectStreamWorks();
}

TEST_F(HostFault, Rows) {
  struct Shape {
    size_t width, pitch, height;
  };
  for (const Shape& shape :
       {Shape{100, 128, 200}, Shape{3 * kPage, 3 * kPage + 64, 5}, Shape{Large(3 * kMiB, kMiB), Large(3 * kMiB, kMiB), 3}}) {
    const size_t extent = (shape.pitch * shape.height + kPage) / kPage * kPage;
    HostPages host(extent);
    DeviceBuffer device(extent);
    const size_t bad = extent / 2 / kPage * kPage;
    host.Protect(bad, PROT_NONE);
    for (bool async : {false, true}) {
      const char* call = async ? "aclrtMemcpy2dAsync" : "aclrtMemcpy2d";
      const auto copy = [&](void* dst, const void* src, aclrtMemcpyKind kind) {
        return async ? aclrtMemcpy2dAsync(dst, shape.pitch, src, shape.pitch, shape.width, shape.height, kind, stream_)
                     : aclrtMemcpy2d(dst, shape.pitch, src, shape.pitch, shape.width, shape.height, kind);
      };
      ExpectText(ACL_ERROR_RT_COPY_DATA, {call, "read"}, [&] { return copy(device.get(), host.at(0), ACL_MEMCPY_HOST_TO_DEVICE); });
      ExpectText(ACL_ERROR_RT_COPY_DATA, {call, "written"}, [&] { return copy(host.at(0), device.get(), ACL_MEMCPY_DEVICE_TO_HOST); });
    }
    ExpectStreamWorks();
  }
}

TEST_F(HostFault, SetBytes) {
  for (size_t size : kSizes) {
    HostPages host(size);
    const size_t bad = size / 2 / kPage * kPage;
    host.Protect(bad, PROT_READ);
    ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemset", Show(host.at(bad))}, [&] { return aclrtMemset(host.at(0), size, 1, size); });
    ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemsetAsync", Show(host.at(bad))},
               [&] { return aclrtMemsetAsync(host.at(0), size, 1, size, stream_); });
    ASSERT_EQ(aclrtHostRegisterV2(host.at(0), bad, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    host.Protect(0, PROT_READ);
    ExpectText(ACL_ERROR_RT_COPY_DATA, {"aclrtMemsetD32", Show(host.at(0))}, [&] { return aclrtMemsetD32(host.at(0), bad, 1, bad / 4); });
    host.Protect(0, PROT_READ | PROT_WRITE);
    EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
  }
}

// Many threads at once, each with a fault of its own, and helpers among them.
TEST_F(HostFault, OnManyThreads) {
  HostPages host(4 * kMiB);
  host.Protect(2 * kMiB, PROT_NONE);
  OnDeviceThreads(6, [&](int) {
    DeviceBuffer device(4 * kMiB);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(aclrtMemcpy(device.get(), 4 * kMiB, host.at(0), 4 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_COPY_DATA);
      EXPECT_EQ(aclrtMemcpy(device.get(), 2 * kMiB, host.at(0), 2 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    }
  });
}

class HostFaultBatch : public BatchTest {};

TEST_P(HostFaultBatch, NamesNoItem) {
  for (size_t size : kSizes) {
    HostPages host(size);
    DeviceBuffer device(size);
    const size_t bad = size / 2 / kPage * kPage;
    host.Protect(bad, PROT_READ);
    Batch batch = BatchToHost();
    for (size_t at = 0; at < size; at += kPage) batch.Add(host.at(at), device.at(at), size - at < kPage ? size - at : kPage);
    ExpectText(ACL_ERROR_RT_COPY_DATA, {GetParam().name, Show(host.at(bad)), "written"}, [&] { return Submit(batch); });
    Expect(ACL_ERROR_RT_COPY_DATA, kNoItem, batch);
    Finish();
    host.Protect(bad, PROT_READ | PROT_WRITE);
    ExpectSuccess(batch);
    Finish();
  }
}
INSTANTIATE_TEST_SUITE_P(Forms, HostFaultBatch, ::testing::Values(kBatch, kBatchV2, kBatchAsync, kBatchAsyncV2), FormName);

// Registered memory: the copy is queued, so its task fails. A GPU has the pages pinned, and does not care what the program does to its
// own view of them.
class RegisteredFault : public HostFault {
 protected:
  void SetUp() override {
    HostFault::SetUp();
    if (std::string(ropewayGetEngineName()) != "cpu") GTEST_SKIP() << "this engine has the pages pinned";
  }
  void ExpectFailsOnce(const void* bad) {
    ExpectText(ACL_ERROR_RT_COPY_DATA, {Show(bad)}, [&] { return aclrtSynchronizeStream(stream_); });
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "the error was handed out twice";
    ExpectStreamWorks();
  }
};

TEST_F(RegisteredFault, FailsTheTask) {
  for (size_t size : kSizes) {
    HostPages host(size);
    DeviceBuffer device(size);
    const size_t bad = size / 2 / kPage * kPage;
    ASSERT_EQ(aclrtHostRegisterV2(host.at(0), size, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    host.Protect(bad, PROT_READ);
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), size, host.at(0), size, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpyAsync(host.at(0), size, device.get(), size, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    ExpectFailsOnce(host.at(bad));
    host.Protect(bad, PROT_READ | PROT_WRITE);
    EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
  }
}

TEST_F(RegisteredFault, FailsABatchInAGraph) {
  HostPages host(4 * kPage);
  DeviceBuffer device(4 * kPage);
  ASSERT_EQ(aclrtHostRegisterV2(host.at(0), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  Batch batch = BatchToHost();
  batch.Add(host.at(0), device.get(), kPage).Add(host.at(2 * kPage), device.at(2 * kPage), kPage);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  size_t item = 0;
  ASSERT_EQ(kBatchAsync.Call(batch, stream_, &item), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  host.Protect(2 * kPage, PROT_NONE);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  ExpectFailsOnce(host.at(2 * kPage));
  host.Protect(2 * kPage, PROT_READ | PROT_WRITE);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
}

}  // namespace host_fault_test
}  // namespace ropeway_test::bytes
