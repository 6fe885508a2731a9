// The arrays that the batch calls want, for blocks of one size that all go the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cli/acl_objects.h"

namespace ropeway::cli {

enum class Way { kToDevice, kToHost };

class BlockBatch {
 public:
  BlockBatch(Way way, size_t block_bytes) : block_bytes_(block_bytes) {
    const aclrtMemLocation host = {0, ACL_MEM_LOCATION_TYPE_HOST};
    const aclrtMemLocation device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attribute_.dstLoc = way == Way::kToDevice ? device : host;
    attribute_.srcLoc = way == Way::kToDevice ? host : device;
  }

  size_t count() const { return dsts_.size(); }
  size_t bytes() const { return count() * block_bytes_; }
  void Add(void* dst, void* src) {
    dsts_.push_back(dst);
    srcs_.push_back(src);
    sizes_.push_back(block_bytes_);
  }
  // For the next blocks; the arrays keep their memory.
  void Clear() {
    dsts_.clear();
    srcs_.clear();
    sizes_.clear();
  }

  aclError Submit(const Stream& stream) {
    size_t failed = 0;
    return aclrtMemcpyBatchAsync(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), count(), &attribute_, &first_item_, 1, &failed,
                                 stream.get());
  }
  aclError CopyNow() {
    size_t failed = 0;
    return aclrtMemcpyBatch(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), count(), &attribute_, &first_item_, 1, &failed);
  }

 private:
  size_t block_bytes_;
  aclrtMemcpyBatchAttr attribute_ = {};
  size_t first_item_ = 0;  // the one attribute holds from here on
  std::vector<void*> dsts_;
  std::vector<void*> srcs_;
  std::vector<size_t> sizes_;
};

}  // namespace ropeway::cli
