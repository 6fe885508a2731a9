// Checks of mspti, its one subscriber, and callbacks around calls.
#include "tests/conformance/profile/profile_test_util.h"

namespace ropeway_test::profile {
namespace mspti_calls_test {

struct Told {
  int site;
  std::string name;
  uint32_t id;
};

class MsptiCalls : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    told_.clear();
    ASSERT_EQ(msptiSubscribe(&handle_, &MsptiCalls::Tell, this), MSPTI_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(msptiUnsubscribe(handle_), MSPTI_SUCCESS);
    StreamTest::TearDown();
  }
  static void Tell(void* self, msptiCallbackDomain domain, msptiCallbackId id, const msptiCallbackData* data) {
    EXPECT_EQ(domain, MSPTI_CB_DOMAIN_RUNTIME);
    auto& test = *static_cast<MsptiCalls*>(self);
    test.told_.push_back({static_cast<int>(data->callbackSite), data->functionName, id});
    EXPECT_EQ(data->functionParams, nullptr);
    EXPECT_EQ(data->correlationId, 0u);
    // A call from inside is not told of.
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  }
  msptiSubscriberHandle handle_ = nullptr;
  std::vector<Told> told_;
};

TEST_F(MsptiCalls, AreToldBeforeAndAfter) {
  ASSERT_EQ(msptiEnableDomain(1, handle_, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  ASSERT_EQ(msptiEnableDomain(0, handle_, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  const std::pair<const char*, uint32_t> wanted[] = {{"aclrtMalloc", MSPTI_CBID_RUNTIME_MALLOC},
                                                     {"aclrtMallocHost", MSPTI_CBID_RUNTIME_MALLOC_HOST},
                                                     {"aclrtMemcpyAsync", MSPTI_CBID_RUNTIME_MEMCPY_ASYNC},
                                                     {"aclrtSynchronizeStream", MSPTI_CBID_RUNTIME_STREAM_SYNCHRONIZED},
                                                     {"aclrtFreeHost", MSPTI_CBID_RUNTIME_FREE_HOST},
                                                     {"aclrtFree", MSPTI_CBID_RUNTIME_FREE}};
  ASSERT_EQ(told_.size(), 2 * std::size(wanted));
  for (size_t i = 0; i < told_.size(); ++i) {
    EXPECT_EQ(told_[i].name, wanted[i / 2].first) << i;
    EXPECT_EQ(told_[i].id, wanted[i / 2].second) << i;
    EXPECT_EQ(told_[i].site, i % 2 == 0 ? MSPTI_API_ENTER : MSPTI_API_EXIT) << i;
  }
}

TEST_F(MsptiCalls, OneKindByItself) {
  ASSERT_EQ(msptiEnableCallback(1, handle_, MSPTI_CB_DOMAIN_RUNTIME, MSPTI_CBID_RUNTIME_MALLOC), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0].name, "aclrtMalloc");
  ASSERT_EQ(msptiEnableCallback(0, handle_, MSPTI_CB_DOMAIN_RUNTIME, MSPTI_CBID_RUNTIME_MALLOC), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  EXPECT_EQ(told_.size(), 2u);
}

TEST_F(MsptiCalls, ThereIsOneSubscriber) {
  msptiSubscriberHandle second = nullptr;
  EXPECT_EQ(msptiSubscribe(nullptr, nullptr, nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiSubscribe(&second, nullptr, nullptr), MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(msptiUnsubscribe(nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  ASSERT_EQ(msptiUnsubscribe(handle_), MSPTI_SUCCESS);
  EXPECT_EQ(msptiUnsubscribe(handle_), MSPTI_SUCCESS) << "there is none";
  ASSERT_EQ(msptiSubscribe(&second, nullptr, nullptr), MSPTI_SUCCESS) << "without a function";
  EXPECT_EQ(msptiUnsubscribe(handle_), MSPTI_ERROR_INVALID_PARAMETER) << "the one before";
  EXPECT_EQ(msptiEnableDomain(1, second, MSPTI_CB_DOMAIN_RUNTIME), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  handle_ = second;
}

TEST_F(MsptiCalls, ArgumentsAreChecked) {
  const auto kind = [](int number) { return static_cast<msptiActivityKind>(number); };
  for (const int unknown : {0, -1, 13, 1000}) {
    EXPECT_EQ(msptiActivityEnable(kind(unknown)), MSPTI_ERROR_INVALID_PARAMETER) << unknown;
    EXPECT_EQ(msptiActivityDisable(kind(unknown)), MSPTI_ERROR_INVALID_PARAMETER) << unknown;
    EXPECT_EQ(msptiActivityIsEnabled(kind(unknown)), 0) << unknown;
  }
  for (int known = 1; known <= 12; ++known) {
    EXPECT_EQ(msptiActivityEnable(kind(known)), MSPTI_SUCCESS) << known;
    EXPECT_EQ(msptiActivityIsEnabled(kind(known)), 1) << known;
    EXPECT_EQ(msptiActivityDisable(kind(known)), MSPTI_SUCCESS) << known;
    EXPECT_EQ(msptiActivityIsEnabled(kind(known)), 0) << known;
  }
  EXPECT_EQ(msptiActivityRegisterCallbacks(nullptr, &Buffers::Complete), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityRegisterCallbacks(&Buffers::Request, nullptr), MSPTI_ERROR_INVALID_PARAMETER);
  for (const int external : {-1, 0, 5}) {
    const auto bad = static_cast<msptiExternalCorrelationKind>(external);
    uint64_t last = 0;
    EXPECT_EQ(msptiActivityPushExternalCorrelationId(bad, 1), MSPTI_ERROR_INVALID_PARAMETER) << external;
    EXPECT_EQ(msptiActivityPopExternalCorrelationId(bad, &last), MSPTI_ERROR_INVALID_PARAMETER) << external;
  }
  const auto domain = [](int number) { return static_cast<msptiCallbackDomain>(number); };
  EXPECT_EQ(msptiEnableDomain(1, nullptr, domain(1)), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableDomain(1, handle_, domain(0)), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableDomain(1, handle_, domain(3)), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableDomain(1, handle_, domain(2)), MSPTI_SUCCESS);
  EXPECT_EQ(msptiEnableCallback(1, nullptr, domain(1), 1), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableCallback(1, handle_, domain(4), 1), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableCallback(1, handle_, domain(1), 0), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableCallback(1, handle_, domain(1), 37), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiEnableCallback(1, handle_, domain(1), 36), MSPTI_SUCCESS);
}

}  // namespace mspti_calls_test
}  // namespace ropeway_test::profile
