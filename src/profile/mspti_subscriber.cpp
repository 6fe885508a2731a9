// Functions of the program around calls of the runtime.
#include <new>
#include <string_view>

#include "base/race_detector.h"
#include "profile/mspti.h"

namespace ropeway {
namespace {

struct CallbackId {
  std::string_view call;
  uint32_t id;
};
constexpr CallbackId kCallbackIds[] = {
    {"aclrtSetDevice", MSPTI_CBID_RUNTIME_DEVICE_SET},
    {"aclrtResetDevice", MSPTI_CBID_RUNTIME_DEVICE_RESET},
    {"aclrtResetDeviceForce", MSPTI_CBID_RUNTIME_DEVICE_RESET},
    {"aclrtCreateContext", MSPTI_CBID_RUNTIME_CONTEXT_CREATED_EX},
    {"aclrtDestroyContext", MSPTI_CBID_RUNTIME_CONTEXT_DESTROY},
    {"aclrtCreateStream", MSPTI_CBID_RUNTIME_STREAM_CREATED},
    {"aclrtCreateStreamWithConfig", MSPTI_CBID_RUNTIME_STREAM_CREATED},
    {"aclrtDestroyStream", MSPTI_CBID_RUNTIME_STREAM_DESTROY},
    {"aclrtDestroyStreamForce", MSPTI_CBID_RUNTIME_STREAM_DESTROY},
    {"aclrtSynchronizeStream", MSPTI_CBID_RUNTIME_STREAM_SYNCHRONIZED},
    {"aclrtSynchronizeStreamWithTimeout", MSPTI_CBID_RUNTIME_STREAM_SYNCHRONIZED},
    {"aclrtMalloc", MSPTI_CBID_RUNTIME_MALLOC},
    {"aclrtMallocAlign32", MSPTI_CBID_RUNTIME_MALLOC},
    {"aclrtMallocWithCfg", MSPTI_CBID_RUNTIME_MALLOC},
    {"aclrtMallocCached", MSPTI_CBID_RUNTIME_MALLOC_CACHED},
    {"aclrtFree", MSPTI_CBID_RUNTIME_FREE},
    {"aclrtMallocHost", MSPTI_CBID_RUNTIME_MALLOC_HOST},
    {"aclrtMallocHostWithCfg", MSPTI_CBID_RUNTIME_MALLOC_HOST},
    {"aclrtFreeHost", MSPTI_CBID_RUNTIME_FREE_HOST},
    {"aclrtMemFlush", MSPTI_CBID_RUNTIME_FLUSH_CACHE},
    {"aclrtMemInvalidate", MSPTI_CBID_RUNTIME_INVALID_CACHE},
    {"aclrtMemcpy", MSPTI_CBID_RUNTIME_MEMCPY},
    {"aclrtMemcpyAsync", MSPTI_CBID_RUNTIME_MEMCPY_ASYNC},
    {"aclrtMemcpyAsyncWithCondition", MSPTI_CBID_RUNTIME_MEMCPY_ASYNC},
    {"aclrtMemcpy2d", MSPTI_CBID_RUNTIME_MEM_CPY2D},
    {"aclrtMemcpy2dAsync", MSPTI_CBID_RUNTIME_MEM_CPY2D_ASYNC},
    {"aclrtMemset", MSPTI_CBID_RUNTIME_MEM_SET},
    {"aclrtMemsetAsync", MSPTI_CBID_RUNTIME_MEM_SET_ASYNC},
    {"aclrtGetMemInfo", MSPTI_CBID_RUNTIME_MEM_GET_INFO},
    {"aclrtReserveMemAddress", MSPTI_CBID_RUNTIME_RESERVE_MEM_ADDRESS},
    {"aclrtReleaseMemAddress", MSPTI_CBID_RUNTIME_RELEASE_MEM_ADDRESS},
    {"aclrtMallocPhysical", MSPTI_CBID_RUNTIME_MALLOC_PHYSICAL},
    {"aclrtFreePhysical", MSPTI_CBID_RUNTIME_FREE_PHYSICAL},
    {"aclrtMemExportToShareableHandle", MSPTI_CBID_RUNTIME_MEM_EXPORT_TO_SHAREABLE_HANDLE},
    {"aclrtMemImportFromShareableHandle", MSPTI_CBID_RUNTIME_MEM_IMPORT_FROM_SHAREABLE_HANDLE},
    {"aclrtMemSetPidToShareableHandle", MSPTI_CBID_RUNTIME_MEM_SET_PID_TO_SHAREABLE_HANDLE},
};

uint32_t CallbackIdOf(std::string_view call) {
  for (const CallbackId& one : kCallbackIds) {
    if (one.call == call) return one.id;
  }
  return MSPTI_CBID_RUNTIME_INVALID;
}

uint32_t EndOfIds(uint32_t domain) {
  if (domain == MSPTI_CB_DOMAIN_RUNTIME) return MSPTI_CBID_RUNTIME_SIZE;
  return domain == MSPTI_CB_DOMAIN_HCCL ? MSPTI_CBID_HCCL_SIZE : 0;
}

thread_local bool t_in_callback = false;

}  // namespace

msptiResult Mspti::Subscribe(msptiSubscriberHandle* handle, msptiCallbackFunc function, void* userdata) {
  if (handle == nullptr) return MSPTI_ERROR_INVALID_PARAMETER;
  LockGuard lock(mutex_);
  if (subscriber_.load() != nullptr) return MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  auto* const subscriber = new (std::nothrow) Subscriber{function, userdata};
  if (subscriber == nullptr) return MSPTI_ERROR_INNER;
  subscriber_.store(subscriber, std::memory_order_release);
  *handle = reinterpret_cast<msptiSubscriberHandle>(subscriber);
  return MSPTI_SUCCESS;
}

msptiResult Mspti::Unsubscribe(msptiSubscriberHandle handle) {
  LockGuard lock(mutex_);
  Subscriber* const subscriber = subscriber_.load();
  if (subscriber == nullptr) return MSPTI_SUCCESS;
  if (reinterpret_cast<msptiSubscriberHandle>(subscriber) != handle) return MSPTI_ERROR_INVALID_PARAMETER;
  subscriber_.store(nullptr, std::memory_order_release);
  retired_.push_back(subscriber);
  ListenIfWanted();
  return MSPTI_SUCCESS;
}

msptiResult Mspti::EnableCallback(bool on, msptiSubscriberHandle handle, uint32_t domain, uint32_t id) {
  LockGuard lock(mutex_);
  Subscriber* const subscriber = subscriber_.load();
  if (subscriber == nullptr || reinterpret_cast<msptiSubscriberHandle>(subscriber) != handle) return MSPTI_ERROR_INVALID_PARAMETER;
  if (id == 0 || id >= EndOfIds(domain)) return MSPTI_ERROR_INVALID_PARAMETER;
  const uint64_t bit = uint64_t{1} << id;
  on ? subscriber->enabled[domain].fetch_or(bit) : subscriber->enabled[domain].fetch_and(~bit);
  ListenIfWanted();
  return MSPTI_SUCCESS;
}

msptiResult Mspti::EnableDomain(bool on, msptiSubscriberHandle handle, uint32_t domain) {
  LockGuard lock(mutex_);
  Subscriber* const subscriber = subscriber_.load();
  if (subscriber == nullptr || reinterpret_cast<msptiSubscriberHandle>(subscriber) != handle) return MSPTI_ERROR_INVALID_PARAMETER;
  const uint32_t end = EndOfIds(domain);
  if (end == 0) return MSPTI_ERROR_INVALID_PARAMETER;
  subscriber->enabled[domain].store(on ? (uint64_t{1} << end) - 2 : 0);
  ListenIfWanted();
  return MSPTI_SUCCESS;
}

void Mspti::TellSubscriber(const CallFrame& frame, msptiApiCallbackSite site) {
  const Subscriber* const subscriber = subscriber_.load(std::memory_order_acquire);
  if (subscriber == nullptr || subscriber->function == nullptr || t_in_callback) return;
  const uint64_t enabled = subscriber->enabled[MSPTI_CB_DOMAIN_RUNTIME].load(std::memory_order_relaxed);
  if (enabled == 0) return;
  const uint32_t id = CallbackIdOf(frame.call);
  if (id == MSPTI_CBID_RUNTIME_INVALID || (enabled >> id & 1) == 0) return;
  msptiCallbackData data{};
  data.callbackSite = site;
  data.functionName = frame.call;
  t_in_callback = true;
  {
    const race_detector::UsersCode users;
    subscriber->function(subscriber->userdata, MSPTI_CB_DOMAIN_RUNTIME, id, &data);
  }
  t_in_callback = false;
}

}  // namespace ropeway
