// Batch, descriptor and offset copies, value write and wait: not there yet. What the original checks before it asks for
// the feature is checked, in its order.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
const auto kBadKind = static_cast<aclrtMemcpyKind>(8);

class RefusedBatch : public StreamTest {
 protected:
  // Two items of 4 bytes from pinned memory to the device; a test breaks one thing.
  struct Args {
    void* dsts[2];
    size_t dest_maxs[2] = {4, 4};
    void* srcs[2];
    size_t sizes[2] = {4, 4};
    size_t count = 2;
    aclrtMemcpyBatchAttr attrs[1] = {};
    size_t indexes[1] = {0};
  };

  void SetUp() override {
    StreamTest::SetUp();
    for (int i = 0; i < 2; ++i) {
      args_.dsts[i] = Nonsense();
      args_.srcs[i] = Nonsense();
    }
  }
  struct Form {
    const char* name;
    std::function<aclError(Args&, size_t*)> call;
    bool has_index;
  };
  std::vector<Form> Forms() {
    return {
        {"aclrtMemcpyBatch",
         [](Args& a, size_t* fail) {
           return aclrtMemcpyBatch(a.dsts, a.dest_maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, 1, fail);
         },
         true},
        {"aclrtMemcpyBatchV2",
         [](Args& a, size_t*) {
           return aclrtMemcpyBatchV2(a.dsts, a.dest_maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, 1);
         },
         false},
        {"aclrtMemcpyBatchAsync",
         [this](Args& a, size_t* fail) {
           return aclrtMemcpyBatchAsync(a.dsts, a.dest_maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, 1, fail,
                                        stream_);
         },
         true},
        {"aclrtMemcpyBatchAsyncV2",
         [this](Args& a, size_t*) {
           return aclrtMemcpyBatchAsyncV2(a.dsts, a.dest_maxs, a.srcs, a.sizes, a.count, a.attrs, a.indexes, 1,
                                          stream_);
         },
         false},
    };
  }
  Args args_;
};

TEST_F(RefusedBatch, EveryFormIsRefusedBehindItsChecks) {
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    size_t fail = 77;
    Args too_small = args_, reserved = args_, none = args_;
    too_small.dest_maxs[1] = 3;
    reserved.attrs[0].rsv[15] = 1;
    none.count = 0;
    ExpectRefusals({{form.name,
                     [&] { return form.call(args_, &fail); },
                     {{kNull, [&] { return form.call(too_small, &fail); }},
                      {kNull, [&] { return form.call(reserved, &fail); }},
                      {kNull, [&] { return form.call(none, &fail); }}}}},
                   LastError::kShows);
    EXPECT_EQ(fail, form.has_index ? SIZE_MAX : 77u);
    if (form.has_index) ExpectAnswer(form.name, kNull, ACL_SUCCESS, [&] { return form.call(args_, nullptr); });
  }
}

TEST_F(RefusedBatch, OnlyZeroSizesIsSuccess) {
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    size_t fail = 77;
    Args zero = args_;
    zero.sizes[0] = zero.sizes[1] = 0;
    EXPECT_EQ(form.call(zero, &fail), ACL_SUCCESS);
    EXPECT_EQ(fail, form.has_index ? SIZE_MAX : 77u);
  }
}

TEST_F(RefusedBatch, NullArraysAreNoticed) {
  Args& a = args_;
  auto call = [&](void** dsts, size_t* maxs, void** srcs, size_t* sizes, aclrtMemcpyBatchAttr* attrs, size_t* indexes) {
    return aclrtMemcpyBatchAsyncV2(dsts, maxs, srcs, sizes, 2, attrs, indexes, 1, stream_);
  };
  EXPECT_EQ(call(nullptr, a.dest_maxs, a.srcs, a.sizes, a.attrs, a.indexes), kNull);
  EXPECT_EQ(call(a.dsts, nullptr, a.srcs, a.sizes, a.attrs, a.indexes), kNull);
  EXPECT_EQ(call(a.dsts, a.dest_maxs, nullptr, a.sizes, a.attrs, a.indexes), kNull);
  EXPECT_EQ(call(a.dsts, a.dest_maxs, a.srcs, nullptr, a.attrs, a.indexes), kNull);
  EXPECT_EQ(call(a.dsts, a.dest_maxs, a.srcs, a.sizes, nullptr, a.indexes), kNull);
  EXPECT_EQ(call(a.dsts, a.dest_maxs, a.srcs, a.sizes, a.attrs, nullptr), kNull);
}

TEST_F(RefusedBatch, DescriptorCopiesAreRefused) {
  void* d = Nonsense();
  size_t size = 77;
  ExpectRefusals(
      {
          {"aclrtGetMemcpyDescSize",
           [&] { return aclrtGetMemcpyDescSize(kInner, &size); },
           {{kNull, [&] { return aclrtGetMemcpyDescSize(kInner, nullptr); }},
            {kNull, [&] { return aclrtGetMemcpyDescSize(kBadKind, &size); }}}},
          {"aclrtSetMemcpyDesc",
           [&] { return aclrtSetMemcpyDesc(d, kInner, d, d, 4, nullptr); },
           {{kNull, [&] { return aclrtSetMemcpyDesc(nullptr, kInner, d, d, 4, nullptr); }},
            {kNull, [&] { return aclrtSetMemcpyDesc(d, kBadKind, d, d, 4, nullptr); }},
            {kNull, [&] { return aclrtSetMemcpyDesc(d, kInner, nullptr, d, 4, nullptr); }},
            {kNull, [&] { return aclrtSetMemcpyDesc(d, kInner, d, nullptr, 4, nullptr); }},
            {kNull, [&] { return aclrtSetMemcpyDesc(d, kInner, d, d, 0, nullptr); }},
            {kNull, [&] { return aclrtSetMemcpyDesc(d, kInner, d, d, 4, d); }}}},
          {"aclrtMemcpyAsyncWithDesc",
           [&] { return aclrtMemcpyAsyncWithDesc(d, kInner, stream_); },
           {{kNull, [&] { return aclrtMemcpyAsyncWithDesc(nullptr, kInner, stream_); }},
            {kNull, [&] { return aclrtMemcpyAsyncWithDesc(d, kBadKind, stream_); }},
            {kNull, [&] { return aclrtMemcpyAsyncWithDesc(d, kInner, nullptr); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(size, 77u);
}

TEST_F(RefusedBatch, OffsetCopiesAreRefused) {
  auto** dst = static_cast<void**>(Nonsense());
  auto** src = static_cast<const void**>(Nonsense());
  ExpectRefusals(
      {{"aclrtMemcpyAsyncWithOffset",
        [&] { return aclrtMemcpyAsyncWithOffset(dst, 4, 0, src, 4, 0, kInner, stream_); },
        {{ACL_ERROR_RT_PARAM_INVALID,
          [&] { return aclrtMemcpyAsyncWithOffset(dst, 4, 0, src, 4, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_); }}}}},
      LastError::kShows);
  EXPECT_EQ(aclrtMemcpyAsyncWithOffset(nullptr, 0, 0, nullptr, 0, 0, kBadKind, stream_), ACL_SUCCESS)
      << "count 0 comes first";
}

TEST_F(RefusedBatch, ValueWriteAndWaitAreRefused) {
  DeviceBuffer cell(8);
  ExpectRefusals(
      {
          {"aclrtValueWrite",
           [&] { return aclrtValueWrite(cell.get(), 1, 0, stream_); },
           {{kNull, [&] { return aclrtValueWrite(nullptr, 1, 0, stream_); }}}},
          {"aclrtValueWait",
           [&] { return aclrtValueWait(cell.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream_); },
           {{kNull, [&] { return aclrtValueWait(nullptr, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_); }}}},
      },
      LastError::kShows);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "a refused wait does not hold the stream";
}

}  // namespace
}  // namespace ropeway_test
#endif
