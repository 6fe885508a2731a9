// The paths of the demo that cross something: from device to device, from stream to stream through an event or a
// value, from a stream to host code and back, and over the line into an error.
#include <cstring>
#include <memory>

#include "cli/demo_paths.h"
#include "cli/gate.h"

namespace ropeway::cli {
namespace {

// Device 1 with a block of its own; both directions are enabled, as programs do it. Device 0 stays current.
class Peer {
 public:
  Peer() {
    RW_ACL(aclrtSetDevice(1));
    block_ = std::make_unique<VisibleBlock>(DemoMemory::kSize);
    RW_ACL(aclrtDeviceEnablePeerAccess(0, 0));
    RW_ACL(aclrtSetDevice(0));
    RW_ACL(aclrtDeviceEnablePeerAccess(1, 0));
  }
  ~Peer() {
    aclrtDeviceDisablePeerAccess(1);
    block_.reset();
    aclrtResetDevice(1);
    aclrtResetDevice(0);  // gives back the reference that the constructor's second SetDevice took
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  Area area() const { return block_->area(); }

 private:
  std::unique_ptr<VisibleBlock> block_;
};

DemoPath PeerPath(const char* name, const std::shared_ptr<Peer>& peer, const Stream* stream, Area dst, Area src) {
  auto run = [=] {
    if (stream == nullptr) {
      RW_ACL(aclrtMemcpy(dst.address, dst.size, src.address, src.size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    } else {
      RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, src.address, src.size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream->get()));
      stream->Synchronize();
    }
  };
  auto check = [=, keep = peer] {
    Freshen(dst, src);
    run();
    return SameBytes(dst, src);
  };
  return {name, src.size, check, run, [=] { std::memcpy(dst.bytes, src.bytes, src.size); }, ""};
}

void AddPeerPaths(DemoMemory& memory, std::vector<DemoPath>& paths) {
  uint32_t devices = 0;
  RW_ACL(aclrtGetDeviceCount(&devices));
  if (devices < 2) {
    paths.push_back({"D2D to another device", 0, {}, {}, {}, "one device only"});
    return;
  }
  auto peer = std::make_shared<Peer>();
  const Area here = memory.device(0);
  paths.push_back(PeerPath("sync D2D, device 0 to 1", peer, nullptr, peer->area(), here));
  paths.push_back(PeerPath("async D2D, device 0 to 1", peer, &memory.streams[0], peer->area(), here));
  paths.push_back(PeerPath("async D2D, device 1 to 0", peer, &memory.streams[0], memory.device(1), peer->area()));
}

// One stream uploads, another downloads what the first brought; `hand_over` makes it wait. The check holds the first
// one back, so that without the wait the second would download too early.
DemoPath HandOverPath(const char* name, DemoMemory& memory, std::function<void(const Stream& up, const Stream& down)> hand_over) {
  const Area src = memory.pinned(0), middle = memory.device(0), dst = memory.pinned(1);
  const Stream& up = memory.streams[0];
  const Stream& down = memory.streams[1];
  auto submit = [=, &up, &down] {
    RW_ACL(aclrtMemcpyAsync(middle.address, middle.size, src.address, src.size, ACL_MEMCPY_HOST_TO_DEVICE, up.get()));
    hand_over(up, down);
    RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, middle.address, middle.size, ACL_MEMCPY_DEVICE_TO_HOST, down.get()));
  };
  auto check = [=, &up, &down] {
    Freshen(dst, src);
    std::memset(middle.bytes, 0, middle.size);
    Push(middle);
    Gate gate;
    gate.Close(up);
    submit();
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    RW_ACL(aclrtStreamQuery(down.get(), &status));
    const bool waited = status == ACL_STREAM_STATUS_NOT_READY && AllBytes(dst, kUntouched);
    gate.Open();
    down.Synchronize();
    return waited && SameBytes(dst, src);
  };
  auto run = [=, &down] {
    submit();
    down.Synchronize();
  };
  auto raw = [=] {
    std::memcpy(middle.bytes, src.bytes, src.size);
    std::memcpy(dst.bytes, middle.bytes, src.size);
  };
  return {name, 2 * src.size, check, run, raw, ""};
}

DemoPath EventPath(DemoMemory& memory) {
  auto event = std::make_shared<Event>();
  return HandOverPath("H2D, event, D2H on another stream", memory, [=](const Stream& up, const Stream& down) {
    RW_ACL(aclrtRecordEvent(event->get(), up.get()));
    RW_ACL(aclrtStreamWaitEvent(down.get(), event->get()));
  });
}

// A word of device memory that counts the handovers; here the wait may come first.
struct Baton {
  VisibleBlock word{sizeof(uint64_t)};
  uint64_t count = 0;
};

DemoPath ValuePath(DemoMemory& memory) {
  auto baton = std::make_shared<Baton>();
  return HandOverPath("H2D, value write and wait, D2H", memory, [=](const Stream& up, const Stream& down) {
    const uint64_t turn = ++baton->count;
    RW_ACL(aclrtValueWait(baton->word.area().address, turn, ACL_STREAM_WAIT_VALUE_GEQ, down.get()));
    RW_ACL(aclrtValueWrite(baton->word.area().address, turn, 0, up.get()));
  });
}

// What the host function sees and does, between two copies of one stream.
struct Step {
  Area src;
  Area arrived;
  bool arrived_in_time = false;

  static void Run(void* self) {
    auto* step = static_cast<Step*>(self);
    step->arrived_in_time = SameBytes(step->arrived, step->src);
    std::memset(step->arrived.bytes, 0x77, step->arrived.size);
  }
};

// Copy, host function, copy: the function must find the first copy done, and the second must carry what the function
// wrote.
DemoPath HostFunctionPath(DemoMemory& memory) {
  const Area src = memory.device(0), middle = memory.pinned(1), dst = memory.device(1);
  const Stream& stream = memory.streams[0];
  auto check = [=, &stream] {
    Freshen(dst, src);
    Step step{src, middle};
    RW_ACL(aclrtMemcpyAsync(middle.address, middle.size, src.address, src.size, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
    RW_ACL(aclrtLaunchHostFunc(stream.get(), &Step::Run, &step));
    RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, middle.address, middle.size, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    stream.Synchronize();
    return step.arrived_in_time && AllBytes(dst, 0x77);
  };
  return {"D2H, host function, H2D in order", 2 * src.size, check, {}, {}, ""};
}

}  // namespace

std::vector<DemoPath> CrossingPaths(DemoMemory& memory) {
  std::vector<DemoPath> paths;
  AddPeerPaths(memory, paths);
  paths.push_back(EventPath(memory));
  paths.push_back(ValuePath(memory));
  paths.push_back(HostFunctionPath(memory));
  return paths;
}

DemoPath ErrorPath(DemoMemory& memory, std::string* message) {
  Area dst = memory.device(0), src = memory.pinned(0);
  dst.size = 1024;
  src.size = 4096;
  const aclrtStream stream = memory.streams[0].get();
  auto check = [=] {
    Freshen(dst, src);
    TakeErrorText();
    const aclError code = aclrtMemcpyAsync(dst.address, dst.size, src.address, src.size, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    *message = TakeErrorText();
    RW_ACL(aclrtSynchronizeStream(stream));
    return code == ACL_ERROR_RT_PARAM_INVALID && !message->empty() && AllBytes(dst, kUntouched);
  };
  return {"4096 bytes into 1024: refused with 107000", 0, check, {}, {}, ""};
}

}  // namespace ropeway::cli
