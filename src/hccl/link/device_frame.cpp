#include "hccl/link/device_frame.h"

#include <algorithm>

#include "acl/acl.h"

namespace ropeway::comm {
namespace {

// Whoever stands in for the link's thread keeps its own context, and the graph that it may be capturing is none of our business.
class Guest {
 public:
  Guest() {
    had_context_ = aclrtGetCurrentContext(&context_) == ACL_SUCCESS;
    aclmdlRICaptureThreadExchangeMode(&mode_);
  }
  ~Guest() {
    aclmdlRICaptureThreadExchangeMode(&mode_);
    if (had_context_) aclrtSetCurrentContext(context_);
    aclGetRecentErrMsg();
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

 private:
  aclrtContext context_ = nullptr;
  bool had_context_ = false;
  aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
};

}  // namespace

char* DeviceFrame::Add(aclrtContext context, char* device, uint64_t size) {
  parts_.push_back({context, device, bytes_.get() + used_, size});
  used_ += size;
  return parts_.back().host;
}

bool DeviceFrame::Move(bool fetches) const {
  const Guest guest;
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    if (aclrtSetCurrentContext(part.context) != ACL_SUCCESS) return false;
    const aclError code = fetches ? aclrtMemcpy(part.host, part.size, part.device, part.size, ACL_MEMCPY_DEVICE_TO_HOST)
                                  : aclrtMemcpy(part.device, part.size, part.host, part.size, ACL_MEMCPY_HOST_TO_DEVICE);
    return code == ACL_SUCCESS;
  });
}

}  // namespace ropeway::comm
