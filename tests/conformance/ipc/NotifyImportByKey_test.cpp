// aclrtNotifyImportByKey, and what can be done with an imported notify.
#include <memory>
#include <vector>

#include "tests/conformance/ipc/ipc_test_util.h"

namespace ropeway_test {
namespace notify_import_by_key_test {

class NotifyImportByKey : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    notify_ = std::make_unique<SharedNotify>();
    key_ = notify_->Export();
  }
  void TearDown() override {
    notify_.reset();
    StreamTest::TearDown();
  }
  aclError Import(const std::string& key, uint64_t flags = 0) {
    aclrtNotify imported = nullptr;
    const aclError code = aclrtNotifyImportByKey(&imported, key.c_str(), flags);
    if (code == ACL_SUCCESS) {
      EXPECT_EQ(aclrtDestroyNotify(imported), ACL_SUCCESS);
    }
    return code;
  }
  std::unique_ptr<SharedNotify> notify_;
  std::string key_;
};

TEST_F(NotifyImportByKey, ChecksInOrder) {
  aclrtNotify imported = nullptr;
  const auto no_context = [](auto call) { return [call] { return WithoutContext(call); }; };
  ExpectAll({
      {"null output, bad flags", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifyImportByKey(nullptr, "key", 4); }},
      {"null key, bad flags", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifyImportByKey(&imported, nullptr, 4); }},
      {"bad flags, no context", ACL_ERROR_RT_PARAM_INVALID, no_context([&] { return aclrtNotifyImportByKey(&imported, "key", 4); })},
      {"no context, no key", ACL_ERROR_RT_CONTEXT_NULL, no_context([&] { return aclrtNotifyImportByKey(&imported, "key", 0); })},
      {"no key", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifyImportByKey(&imported, "key", 0); }},
  });
  EXPECT_EQ(imported, nullptr);
}

TEST_F(NotifyImportByKey, OnlyTheLowHalfOfTheFlagsCounts) {
  for (uint64_t flags : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 32})
    EXPECT_EQ(Import(key_, flags), ACL_SUCCESS) << flags;
}

TEST_F(NotifyImportByKey, KeysThatAreNoneAreRefused) {
  std::vector<std::string> bad = {"", key_.substr(1), key_ + "0", std::string(64, '0'), std::string(64, 'g')};
  for (size_t at : {size_t{0}, size_t{15}, size_t{16}, size_t{40}, size_t{63}}) {
    std::string forged = key_;
    forged[at] = forged[at] == '0' ? '1' : '0';
    bad.push_back(forged);
  }
  std::string upper = key_;
  upper[63] = 'A';
  bad.push_back(upper);
  for (const std::string& key : bad) EXPECT_EQ(Import(key), ACL_ERROR_RT_PARAM_INVALID) << key;
  EXPECT_EQ(Import(key_), ACL_SUCCESS);
  EXPECT_EQ(TakeErrorText().find(key_), std::string::npos) << "a message must not tell the key";
}

TEST_F(NotifyImportByKey, AKeyDiesWithItsNotify) {
  notify_->Destroy();
  EXPECT_EQ(Import(key_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(NotifyImportByKey, AKeyOfAnEventIsNoKeyOfANotify) {
  TestEvent event(EventKind::kEx, ACL_EVENT_IPC);
  aclrtIpcEventHandle handle = {};
  ASSERT_EQ(aclrtIpcGetEventHandle(event.get(), &handle), ACL_SUCCESS);
  EXPECT_EQ(Import(std::string(handle.reserved, sizeof(handle.reserved))), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(NotifyImportByKey, EitherSideRecordsAndEitherSideWaits) {
  SharedNotify imported(key_);
  TestStream recorder;
  for (const SharedNotify* from : {notify_.get(), &imported}) {
    for (const SharedNotify* to : {notify_.get(), &imported}) {
      int count = 0;
      ASSERT_EQ(to->Wait(stream_), ACL_SUCCESS);
      ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
      ASSERT_EQ(aclrtRecordNotify(from->get(), recorder.get()), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(count, 1);
    }
  }
}

TEST_F(NotifyImportByKey, ARecordIsThereWhenItsStreamIsSynchronised) {
  SharedNotify imported(key_);
  TestStream recorder;
  for (int round = 0; round < 20; ++round) {
    imported.Record(recorder.get());
    aclrtNotify notify = notify_->get();
    ASSERT_EQ(aclrtNotifyBatchReset(&notify, 1), ACL_SUCCESS);
  }
  ASSERT_EQ(notify_->Wait(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "a record came behind its reset";
  imported.Record(recorder.get());
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(NotifyImportByKey, ResetClearsTheFlagOnBothSides) {
  SharedNotify imported(key_);
  TestStream recorder;
  for (const SharedNotify* by : {notify_.get(), &imported}) {
    notify_->Record(recorder.get());
    aclrtNotify handle = by->get();
    ASSERT_EQ(aclrtNotifyBatchReset(&handle, 1), ACL_SUCCESS);
    ASSERT_EQ(imported.Wait(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    notify_->Record(recorder.get());
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

TEST_F(NotifyImportByKey, AWaitThatIsAbortedLeavesTheFlagToOthers) {
  SharedNotify imported(key_);
  TestStream aborted, recorder;
  ASSERT_EQ(imported.Wait(aborted.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(aborted.get(), 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtStreamAbort(aborted.get()), ACL_SUCCESS);
  notify_->Record(recorder.get());
  ASSERT_EQ(notify_->Wait(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "nobody took the flag for the wait that is gone";
}

TEST_F(NotifyImportByKey, TheNotifyLivesUntilItsLastHandleIsGone) {
  SharedNotify first(key_), second(key_);
  TestStream recorder;
  notify_->Destroy();
  ASSERT_EQ(first.Wait(stream_), ACL_SUCCESS);
  second.Record(recorder.get());
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(NotifyImportByKey, ADestroyedImportStillServesWhatIsQueued) {
  TestStream recorder;
  {
    SharedNotify imported(key_);
    ASSERT_EQ(imported.Wait(stream_), ACL_SUCCESS);
  }
  notify_->Record(recorder.get());
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

int32_t PeerStatus(int32_t from, int32_t to) {
  int32_t status = -1;
  EXPECT_EQ(aclrtDevicePeerAccessStatus(from, to, &status), ACL_SUCCESS);
  return status;
}

TEST_F(NotifyImportByKey, IdAndDeviceAreTheExporters) {
  SharedNotify imported(key_);
  uint32_t own = 0, other = 1;
  EXPECT_EQ(aclrtGetNotifyId(notify_->get(), &own), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetNotifyId(imported.get(), &other), ACL_SUCCESS);
  EXPECT_EQ(own, other);
  ForeignContext elsewhere(1);
  elsewhere.Run([&] {
    SharedNotify far(key_, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS);
    EXPECT_EQ(far.Wait(elsewhere.stream()), ACL_ERROR_RT_PARAM_INVALID) << "waits belong to the device of the notify";
    far.Record(elsewhere.stream());
    EXPECT_EQ(PeerStatus(1, 0), 1);
    EXPECT_EQ(aclrtDeviceDisablePeerAccess(0), ACL_SUCCESS);
  });
  EXPECT_EQ(PeerStatus(0, 1), 1);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  ASSERT_EQ(notify_->Wait(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(NotifyImportByKey, AnImportCannotBeCaptured) {
  SharedNotify imported(key_);
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordNotify(imported.get(), stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(imported.Wait(stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

}  // namespace notify_import_by_key_test
}  // namespace ropeway_test
