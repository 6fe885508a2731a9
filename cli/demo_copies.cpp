// The copy paths of the demo: every direction, every kind of host memory, one and two dimensions.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/cold_pool.h"
#include "cli/demo_paths.h"
#include "cli/gate.h"

namespace ropeway::cli {
namespace {

// How a 2-D copy is laid out; both sides have bytes between the rows that must stay as they are.
constexpr size_t kWidth = 4000;
constexpr size_t kRows = 6000;
constexpr size_t kSourcePitch = 5120;
constexpr size_t kTargetPitch = 4096;
constexpr size_t kStagedBytes = 1 << 20;

void RawCopy(const Area& dst, const Area& src) { std::memcpy(dst.bytes, src.bytes, src.size); }

// aclrtMemcpy: done when it returns.
DemoPath SyncPath(const char* name, Area dst, Area src, aclrtMemcpyKind kind) {
  auto run = [=] { RW_ACL(aclrtMemcpy(dst.address, dst.size, src.address, src.size, kind)); };
  auto check = [=] {
    Freshen(dst, src);
    run();
    return SameBytes(dst, src);
  };
  return {name, src.size, check, run, [=] { RawCopy(dst, src); }, ""};
}

// aclrtMemcpyAsync with pinned or registered memory.
DemoPath AsyncPath(const char* name, const Stream& stream, Area dst, Area src, aclrtMemcpyKind kind) {
  return HeldBackPath(name, stream, dst, src,
                      [=, &stream] { RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, src.address, src.size, kind, stream.get())); });
}

// aclrtMemcpyAsync with pageable memory: done when it returns, so nobody synchronises here.
DemoPath PageablePath(const char* name, const Stream& stream, Area dst, Area src, aclrtMemcpyKind kind) {
  auto run = [=, &stream] { RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, src.address, src.size, kind, stream.get())); };
  auto check = [=] {
    Freshen(dst, src);
    run();
    return SameBytes(dst, src);
  };
  return {name, src.size, check, run, [=] { RawCopy(dst, src); }, ""};
}

// Kind 5: the bytes are taken during the call, and the source may be overwritten as soon as it returns.
DemoPath StagedPath(const Stream& stream, Area dst, Area src) {
  dst.size = src.size = kStagedBytes;
  auto submit = [=, &stream] {
    RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, src.address, src.size, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream.get()));
  };
  auto check = [=, &stream] {
    Freshen(dst, src);
    const std::vector<uint8_t> wanted(src.bytes, src.bytes + src.size);
    Gate gate;
    gate.Close(stream);
    submit();
    std::memset(src.bytes, 0, src.size);
    gate.Open();
    stream.Synchronize();
    Pull(dst);
    return std::memcmp(dst.bytes, wanted.data(), wanted.size()) == 0;
  };
  auto run = [=, &stream] {
    submit();
    stream.Synchronize();
  };
  return {"async pageable H2D through a buffer (kind 5)", src.size, check, run, [=] { RawCopy(dst, src); }, ""};
}

bool SameRows(const Area& dst, const Area& src) {
  Pull(dst);
  for (size_t row = 0; row < kRows; ++row) {
    const uint8_t* got = dst.bytes + row * kTargetPitch;
    if (std::memcmp(got, src.bytes + row * kSourcePitch, kWidth) != 0) return false;
    if (!AllBytes({nullptr, const_cast<uint8_t*>(got) + kWidth, kTargetPitch - kWidth}, kUntouched)) return false;
  }
  return true;
}

// A null stream stands for the synchronous call.
DemoPath RowsPath(const char* name, const Stream* stream, Area dst, Area src, aclrtMemcpyKind kind) {
  auto run = [=] {
    if (stream == nullptr) {
      RW_ACL(aclrtMemcpy2d(dst.address, kTargetPitch, src.address, kSourcePitch, kWidth, kRows, kind));
    } else {
      RW_ACL(aclrtMemcpy2dAsync(dst.address, kTargetPitch, src.address, kSourcePitch, kWidth, kRows, kind, stream->get()));
      stream->Synchronize();
    }
  };
  auto check = [=] {
    Freshen(dst, src);
    run();
    return SameRows(dst, src);
  };
  auto raw = [=] {
    for (size_t row = 0; row < kRows; ++row) {
      std::memcpy(dst.bytes + row * kTargetPitch, src.bytes + row * kSourcePitch, kWidth);
    }
  };
  return {name, kWidth * kRows, check, run, raw, ""};
}

// The program's own memory, registered for as long as the path lives.
class Registration {
 public:
  explicit Registration(size_t size) : memory_(static_cast<uint8_t*>(std::aligned_alloc(4096, size)), &std::free) {
    void* ignored = nullptr;
    RW_ACL(aclrtHostRegister(memory_.get(), size, ACL_HOST_REGISTER_MAPPED, &ignored));
  }
  ~Registration() { aclrtHostUnregister(memory_.get()); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  Area area(size_t size) const { return {memory_.get(), memory_.get(), size}; }

 private:
  std::unique_ptr<uint8_t, decltype(&std::free)> memory_;
};

DemoPath RegisteredPath(const char* name, const Stream& stream, Area device, bool to_device) {
  auto registration = std::make_shared<Registration>(device.size);
  const Area host = registration->area(device.size);
  DemoPath path = to_device ? AsyncPath(name, stream, device, host, ACL_MEMCPY_HOST_TO_DEVICE)
                            : AsyncPath(name, stream, host, device, ACL_MEMCPY_DEVICE_TO_HOST);
  path.run = [registration, run = path.run] { run(); };  // the path keeps its memory alive
  return path;
}

}  // namespace

std::vector<DemoPath> CopyPaths(DemoMemory& memory) {
  const Stream& stream = memory.streams[0];
  const Area host = memory.pinned(0), host2 = memory.pinned(1);
  const Area device = memory.device(0), device2 = memory.device(1);
  const Area pageable = memory.pageable(0), pageable2 = memory.pageable(1);
  return {
      SyncPath("sync H2H", pageable2, pageable, ACL_MEMCPY_HOST_TO_HOST),
      SyncPath("sync H2D", device, host, ACL_MEMCPY_HOST_TO_DEVICE),
      SyncPath("sync D2H", host2, device, ACL_MEMCPY_DEVICE_TO_HOST),
      SyncPath("sync D2D", device2, device, ACL_MEMCPY_DEVICE_TO_DEVICE),
      AsyncPath("async pinned H2D", stream, device, host, ACL_MEMCPY_HOST_TO_DEVICE),
      AsyncPath("async pinned D2H", stream, host2, device, ACL_MEMCPY_DEVICE_TO_HOST),
      AsyncPath("async D2D", stream, device2, device, ACL_MEMCPY_DEVICE_TO_DEVICE),
      AsyncPath("async pinned H2D, kind DEFAULT", stream, device2, host2, ACL_MEMCPY_DEFAULT),
      PageablePath("async pageable H2D, blocks", stream, device, pageable, ACL_MEMCPY_HOST_TO_DEVICE),
      PageablePath("async pageable D2H, blocks", stream, pageable2, device, ACL_MEMCPY_DEVICE_TO_HOST),
      StagedPath(stream, device, pageable),
      RegisteredPath("async registered H2D", stream, device, true),
      RegisteredPath("async registered D2H", stream, device2, false),
      RowsPath("sync 2-D H2D", nullptr, device, host, ACL_MEMCPY_HOST_TO_DEVICE),
      RowsPath("sync 2-D D2H", nullptr, host2, device, ACL_MEMCPY_DEVICE_TO_HOST),
      RowsPath("async 2-D H2D", &stream, device, host, ACL_MEMCPY_HOST_TO_DEVICE),
      RowsPath("async 2-D D2H", &stream, host2, device, ACL_MEMCPY_DEVICE_TO_HOST),
      RowsPath("async 2-D D2D", &stream, device2, device, ACL_MEMCPY_DEVICE_TO_DEVICE),
  };
}

}  // namespace ropeway::cli
