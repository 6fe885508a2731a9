// The link of imported memory, and counting notifies: this product does not have them.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace sharing_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;

class RefusedSharing : public StreamTest {
 protected:
  void* const p_ = Nonsense();
  void* out_ = Nonsense();
  char key_[65] = "no key";
};

TEST_F(RefusedSharing, TheLinkOfMemoryIsRefused) {
  ExpectRefusals({{"aclrtIpcMemSetAttr",
                   [&] { return aclrtIpcMemSetAttr(key_, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1); },
                   {{kRange, [&] { return aclrtIpcMemSetAttr(nullptr, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1); }},
                    {kRange, [&] { return aclrtIpcMemSetAttr(key_, static_cast<aclrtIpcMemAttrType>(1), 1); }},
                    {kRange, [&] { return aclrtIpcMemSetAttr(key_, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 4); }}}}},
                 LastError::kShows);
}

TEST_F(RefusedSharing, CountingNotifiesAreRefused) {
  aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
  aclrtCntNotifyRecordInfo all_bits = {ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 1};
  aclrtCntNotifyRecordInfo bad_record = {static_cast<aclrtCntNotifyRecordMode>(3), 1};
  aclrtCntNotifyWaitInfo equal = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 0, {}};
  aclrtCntNotifyWaitInfo bad_wait = {static_cast<aclrtCntNotifyWaitMode>(5), 1, 0, 0, {}};
  uint32_t id = 77;
  ExpectRefusals(
      {
          {"aclrtCntNotifyCreate",
           [&] { return aclrtCntNotifyCreate(&out_, 0); },
           {{kRange, [&] { return aclrtCntNotifyCreate(nullptr, 0); }},
            {kRange, [&] { return aclrtCntNotifyCreate(&out_, 1); }}}},
          {"aclrtCntNotifyDestroy",
           [&] { return aclrtCntNotifyDestroy(p_); },
           {{kRange, [&] { return aclrtCntNotifyDestroy(nullptr); }}}},
          {"aclrtCntNotifyRecord",
           [&] { return aclrtCntNotifyRecord(p_, stream_, &add); },
           {{kNull, [&] { return aclrtCntNotifyRecord(nullptr, stream_, nullptr); }},
            {kRange, [&] { return aclrtCntNotifyRecord(nullptr, stream_, &add); }},
            {kStale, [&] { return aclrtCntNotifyRecord(p_, p_, &bad_record); }},
            {kRange, [&] { return aclrtCntNotifyRecord(p_, stream_, &bad_record); }}}},
          {"aclrtCntNotifyRecord", [&] { return aclrtCntNotifyRecord(p_, stream_, &all_bits); }},
          {"aclrtCntNotifyWaitWithTimeout",
           [&] { return aclrtCntNotifyWaitWithTimeout(p_, stream_, &equal); },
           {{kNull, [&] { return aclrtCntNotifyWaitWithTimeout(p_, stream_, nullptr); }},
            {kRange, [&] { return aclrtCntNotifyWaitWithTimeout(nullptr, stream_, &equal); }},
            {kRange, [&] { return aclrtCntNotifyWaitWithTimeout(p_, stream_, &bad_wait); }}}},
          {"aclrtCntNotifyReset",
           [&] { return aclrtCntNotifyReset(p_, stream_); },
           {{kRange, [&] { return aclrtCntNotifyReset(nullptr, stream_); }},
            {kStale, [&] { return aclrtCntNotifyReset(p_, p_); }}}},
          {"aclrtCntNotifyGetId",
           [&] { return aclrtCntNotifyGetId(p_, &id); },
           {{kNull, [&] { return aclrtCntNotifyGetId(p_, nullptr); }},
            {kRange, [&] { return aclrtCntNotifyGetId(nullptr, &id); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(id, 77u);
  EXPECT_EQ(out_, Nonsense());
}

}  // namespace sharing_test
}  // namespace ropeway_test
#endif
