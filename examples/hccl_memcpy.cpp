// Two devices of one process exchange a block as operator code does: through a dispatcher, with a signal that tells the other
// side. Device 0 writes into device 1's memory; device 1 waits for the signal in its own stream, adds what it has, and hands the
// sum out. Where there is one device only, both sides are on it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "dispatcher.h"
#include "p2p_mgmt_pub.h"

static void Must(int code, const char* what) {
  if (code == 0) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d\n%s", what, code, text != nullptr ? text : "");
  std::exit(1);
}
#define MUST(call) Must(static_cast<int>(call), #call)

static uint32_t PhysicalId(int32_t device) {
  int32_t id = -1;
  MUST(aclrtGetPhyDevIdByUserDevId(device, &id));
  return static_cast<uint32_t>(id);
}

// A device with a stream, a dispatcher and a block of floats that all have one value.
struct Rank {
  Rank(int32_t device_id, uint64_t count, float value) : device(device_id) {
    MUST(aclrtSetDevice(device));
    stream = hccl::Stream(hccl::StreamType::STREAM_TYPE_ONLINE);
    MUST(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, static_cast<s32>(PhysicalId(device)), &dispatcher));
    const std::vector<float> values(count, value);
    MUST(hccl::DeviceMem::alloc(block, count * sizeof(float)));
    MUST(hccl::DeviceMem::alloc(inbox, count * sizeof(float)));
    MUST(hrtMemSyncCopy(block.ptr(), block.size(), values.data(), block.size(), HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE));
  }

  int32_t device;
  hccl::Stream stream;
  HcclDispatcher dispatcher = nullptr;
  hccl::DeviceMem block;
  hccl::DeviceMem inbox;  // where the other rank writes
};

int main() {
  const uint64_t count = 1 << 20;
  uint32_t devices = 0;
  MUST(aclrtGetDeviceCount(&devices));
  const int32_t other = devices > 1 ? 1 : 0;
  Rank receiver(other, count, 2.0f);
  aclrtNotify arrived = nullptr;
  MUST(aclrtCreateNotify(&arrived, ACL_NOTIFY_DEFAULT));

  Rank sender(0, count, 40.0f);
  if (other != 0) {
    MUST(hccl::P2PMgmtPub::EnableP2P({PhysicalId(other)}));
    MUST(hccl::P2PMgmtPub::WaitP2PEnabled({PhysicalId(other)}));
  }
  MUST(HcclMemcpyAsync(sender.dispatcher, receiver.inbox.ptr(), receiver.inbox.size(), sender.block.ptr(), sender.block.size(),
                       HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE, sender.stream, 1, hccl::LinkType::LINK_HCCS));
  MUST(HcclSignalRecord(sender.dispatcher, arrived, sender.stream, 1, INVALID_U64, INVALID_VALUE_STAGE, true, 0));

  MUST(aclrtSetDevice(other));
  std::vector<float> result(count);
  MUST(HcclSignalWait(receiver.dispatcher, arrived, receiver.stream, 1, 0, INVALID_VALUE_STAGE, true));
  MUST(HcclReduceAsync(receiver.dispatcher, receiver.inbox.ptr(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, receiver.stream,
                       receiver.block.ptr(), INVALID_VALUE_RANKID, hccl::LinkType::LINK_ONCHIP, INLINE_REDUCE_BITMASK));
  MUST(HcclMemcpyAsync(receiver.dispatcher, result.data(), result.size() * sizeof(float), receiver.block.ptr(), receiver.block.size(),
                       HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST, receiver.stream, INVALID_VALUE_RANKID, hccl::LinkType::LINK_ONCHIP));
  MUST(hcclStreamSynchronize(receiver.stream.ptr()));

  uint64_t right = 0;
  for (float value : result) right += value == 42.0f;
  std::printf("%llu of %llu elements are 42\n", static_cast<unsigned long long>(right), static_cast<unsigned long long>(count));

  MUST(aclrtDestroyNotify(arrived));
  MUST(HcclDispatcherDestroy(receiver.dispatcher));
  MUST(HcclDispatcherDestroy(sender.dispatcher));
  return right == count ? 0 : 1;
}
