// Memory that one process hands to another, and counting notifies, which this product does not have: refused.
#include <thread>

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
  int32_t pid_ = 1;
  aclrtServerPid server_ = {0, &pid_, 1};
  aclrtServerPid nobody_ = {0, nullptr, 1};
};

TEST_F(RefusedSharing, PhysicalMemoryIsRefused) {
  uint64_t shareable = 77;
  const auto none = ACL_MEM_HANDLE_TYPE_NONE;
  const auto standard = ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT;
  const auto bad_type = static_cast<aclrtMemSharedHandleType>(3);
  ExpectRefusals(
      {
          {"aclrtMemExportToShareableHandle",
           [&] { return aclrtMemExportToShareableHandle(p_, none, 0, &shareable); },
           {{kNull, [&] { return aclrtMemExportToShareableHandle(nullptr, none, 0, &shareable); }},
            {kNull, [&] { return aclrtMemExportToShareableHandle(p_, none, 0, nullptr); }},
            {kNull, [&] { return aclrtMemExportToShareableHandle(p_, ACL_MEM_HANDLE_TYPE_POSIX, 2, &shareable); }},
            {kRange, [&] { return aclrtMemExportToShareableHandle(p_, none, 2, &shareable); }}}},
          {"aclrtMemExportToShareableHandleV2",
           [&] { return aclrtMemExportToShareableHandleV2(p_, 0, standard, &shareable); },
           {{kNull, [&] { return aclrtMemExportToShareableHandleV2(nullptr, 0, standard, &shareable); }},
            {kRange, [&] { return aclrtMemExportToShareableHandleV2(p_, 2, standard, &shareable); }},
            {kRange, [&] { return aclrtMemExportToShareableHandleV2(p_, 0, bad_type, &shareable); }}}},
          {"aclrtMemImportFromShareableHandle",
           [&] { return aclrtMemImportFromShareableHandle(1, 0, &out_); },
           {{kNull, [&] { return aclrtMemImportFromShareableHandle(1, 99, nullptr); }},
            {ACL_ERROR_RT_INVALID_DEVICEID, [&] { return aclrtMemImportFromShareableHandle(1, 99, &out_); }}}},
          {"aclrtMemImportFromShareableHandleV2",
           [&] { return aclrtMemImportFromShareableHandleV2(&shareable, standard, 0, &out_); },
           {{kNull, [&] { return aclrtMemImportFromShareableHandleV2(&shareable, standard, 0, nullptr); }},
            {kNull, [&] { return aclrtMemImportFromShareableHandleV2(&shareable, bad_type, 1, &out_); }},
            {kRange, [&] { return aclrtMemImportFromShareableHandleV2(&shareable, bad_type, 0, &out_); }}}},
          {"aclrtMemSetPidToShareableHandle",
           [&] { return aclrtMemSetPidToShareableHandle(1, &pid_, 1); },
           {{kNull, [&] { return aclrtMemSetPidToShareableHandle(1, nullptr, 1); }},
            {kNull, [&] { return aclrtMemSetPidToShareableHandle(1, &pid_, 0); }}}},
          {"aclrtMemSetPidToShareableHandleV2",
           [&] { return aclrtMemSetPidToShareableHandleV2(&shareable, standard, &pid_, 1); },
           {{kNull, [&] { return aclrtMemSetPidToShareableHandleV2(nullptr, standard, &pid_, 1); }},
            {kNull, [&] { return aclrtMemSetPidToShareableHandleV2(&shareable, bad_type, &pid_, 0); }},
            {kRange, [&] { return aclrtMemSetPidToShareableHandleV2(&shareable, bad_type, &pid_, 1); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(shareable, 77u);
  EXPECT_EQ(out_, Nonsense());
}

TEST_F(RefusedSharing, ImportV2AsksForAContextBeforeTheType) {
  uint64_t shareable = 0;
  aclError result = ACL_SUCCESS;
  std::thread([&] {
    result = aclrtMemImportFromShareableHandleV2(&shareable, static_cast<aclrtMemSharedHandleType>(3), 0, &out_);
  }).join();
  EXPECT_EQ(result, ACL_ERROR_RT_CONTEXT_NULL);
}

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
