// Programs keep handles in an int64_t, in tensors and in files: every handle is a positive one.
#include "acl/acl_rt_allocator.h"
#include "tests/conformance/graph/model_tasks.h"
#include "tests/conformance/memory/pool_fixture.h"
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test {
namespace handle_numbers_test {

using HandleNumbers = bytes::PoolTest;
using PhysicalHandleNumbers = DeviceTest;

void ExpectPositive(const char* what, const void* handle) {
  EXPECT_GT(static_cast<int64_t>(reinterpret_cast<uintptr_t>(handle)), 0) << what;
}

TEST_F(HandleNumbers, OfStreamsEventsAndNotifies) {
  ExpectPositive("stream", stream_);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ExpectPositive("event", event);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ExpectPositive("event with flags", event);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  ExpectPositive("notify", notify);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(HandleNumbers, OfContextsAndDefaultStreams) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  ExpectPositive("default context", context);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
  ExpectPositive("default stream", stream);
  aclrtContext made = nullptr;
  ASSERT_EQ(aclrtCreateContext(&made, 0), ACL_SUCCESS);
  ExpectPositive("context", made);
  EXPECT_EQ(aclrtDestroyContext(made), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
}

TEST_F(HandleNumbers, OfGraphsAndTheirParts) {
  DeviceBuffer block(64);
  graph::Begin(stream_);
  ASSERT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, stream_), ACL_SUCCESS);
  const graph::Model model = graph::End(stream_);
  ExpectPositive("model", model.get());
  for (const aclrtStream stream : graph::StreamsOf(model)) {
    ExpectPositive("stream of a model", stream);
    for (const aclmdlRITask task : graph::TasksOf(stream)) ExpectPositive("task", task);
  }
}

TEST_F(PhysicalHandleNumbers, AreThoseOfMemory) {
  const vmm::Physical physical;
  ExpectPositive("physical memory", physical.get());
}

TEST_F(HandleNumbers, OfPoolsAndAllocators) {
  ExpectPositive("pool", pool_);
  aclrtAllocatorDesc allocator = aclrtAllocatorCreateDesc();
  ExpectPositive("allocator", allocator);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(allocator), ACL_SUCCESS);
}

}  // namespace handle_numbers_test
}  // namespace ropeway_test
