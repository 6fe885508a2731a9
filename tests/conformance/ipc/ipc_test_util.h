// What the tests of shared objects have in common. Exporter and importer are one process here: the library speaks to itself as
// it would to another. What needs a second process is in tests/process.
#pragma once

#include <string>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {

constexpr size_t kKeyRoom = 65;  // 64 characters and the end

// A notify that destroys itself: a new one, or one that was imported by key.
class SharedNotify {
 public:
  SharedNotify() { EXPECT_EQ(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS); }
  explicit SharedNotify(const std::string& key, uint64_t flags = 0) {
    EXPECT_EQ(aclrtNotifyImportByKey(&notify_, key.c_str(), flags), ACL_SUCCESS);
  }
  ~SharedNotify() { Destroy(); }
  SharedNotify(const SharedNotify&) = delete;
  SharedNotify& operator=(const SharedNotify&) = delete;

  void Destroy() {
    if (notify_ != nullptr) {
      EXPECT_EQ(aclrtDestroyNotify(std::exchange(notify_, nullptr)), ACL_SUCCESS);
    }
  }
  aclrtNotify get() const { return notify_; }
  std::string Export(uint64_t flags = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) const {
    char key[kKeyRoom] = {};
    EXPECT_EQ(aclrtNotifyGetExportKey(notify_, key, sizeof(key), flags), ACL_SUCCESS);
    return key;
  }
  // Recorded when the call returns.
  void Record(aclrtStream stream) const {
    ASSERT_EQ(aclrtRecordNotify(notify_, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  aclError Wait(aclrtStream stream, uint32_t timeout = 0) const { return aclrtWaitAndResetNotify(notify_, stream, timeout); }

 private:
  aclrtNotify notify_ = nullptr;
};

}  // namespace ropeway_test
