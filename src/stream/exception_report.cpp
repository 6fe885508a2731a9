#include "stream/exception_report.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "stream/host_thread.h"

namespace ropeway {
namespace {

struct Callbacks {
  std::mutex mutex;
  aclrtExceptionInfoCallback slot = nullptr;
  std::vector<aclrtExceptionInfoCallback> set;
  HostThread thread{"rw-exception"};
};

Callbacks& AllCallbacks() {
  static auto* callbacks = new Callbacks;
  return *callbacks;
}

void Deliver(void* argument) {
  std::unique_ptr<ExceptionInfo> info(static_cast<ExceptionInfo*>(argument));
  std::vector<aclrtExceptionInfoCallback> to_call;
  {
    Callbacks& all = AllCallbacks();
    std::lock_guard lock(all.mutex);
    if (all.slot != nullptr) to_call.push_back(all.slot);
    to_call.insert(to_call.end(), all.set.begin(), all.set.end());
  }
  for (auto callback : to_call) callback(reinterpret_cast<aclrtExceptionInfo*>(info.get()));
}

}  // namespace

void ReportException(const ExceptionInfo& info) {
  Callbacks& all = AllCallbacks();
  {
    std::lock_guard lock(all.mutex);
    if (all.slot == nullptr && all.set.empty()) return;
  }
  all.thread.Post({&Deliver, new ExceptionInfo(info), nullptr});
}

void SetExceptionCallback(aclrtExceptionInfoCallback callback) {
  AllCallbacks().thread.Prepare();
  std::lock_guard lock(AllCallbacks().mutex);
  AllCallbacks().slot = callback;
}

void AddExceptionCallback(aclrtExceptionInfoCallback callback) {
  Callbacks& all = AllCallbacks();
  all.thread.Prepare();
  std::lock_guard lock(all.mutex);
  if (std::find(all.set.begin(), all.set.end(), callback) == all.set.end()) all.set.push_back(callback);
}

void RemoveExceptionCallback(aclrtExceptionInfoCallback callback) {
  Callbacks& all = AllCallbacks();
  std::lock_guard lock(all.mutex);
  all.set.erase(std::remove(all.set.begin(), all.set.end(), callback), all.set.end());
}

}  // namespace ropeway
