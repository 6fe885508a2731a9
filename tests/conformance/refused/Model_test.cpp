// Models built by hand and what belongs to them, conditions in captured ones, attributes of kernels, and the data dump
// are refused.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace model_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;

class RefusedModel : public StreamTest {
 protected:
  void* const m_ = Nonsense();
  aclmdlRI model_out_ = Nonsense();
};

TEST_F(RefusedModel, BuildingByHandIsRefused) {
  ExpectRefusals(
      {
          {"aclmdlRIBuildBegin",
           [&] { return aclmdlRIBuildBegin(&model_out_, 0); },
           {{kNull, [&] { return aclmdlRIBuildBegin(nullptr, 1); }},
            {kRange, [&] { return aclmdlRIBuildBegin(&model_out_, 1); }}}},
          {"aclmdlRIBindStream",
           [&] { return aclmdlRIBindStream(m_, stream_, 0); },
           {{kNull, [&] { return aclmdlRIBindStream(nullptr, stream_, 0); }},
            {kNull, [&] { return aclmdlRIBindStream(m_, nullptr, 0); }},
            {kStale, [&] { return aclmdlRIBindStream(m_, m_, 0); }}}},
          {"aclmdlRIEndTask",
           [&] { return aclmdlRIEndTask(m_, stream_); },
           {{kNull, [&] { return aclmdlRIEndTask(nullptr, stream_); }},
            {kStale, [&] { return aclmdlRIEndTask(m_, m_); }}}},
          {"aclmdlRIUnbindStream",
           [&] { return aclmdlRIUnbindStream(m_, stream_); },
           {{kNull, [&] { return aclmdlRIUnbindStream(nullptr, stream_); }}}},
          {"aclmdlRIBuildEnd",
           [&] { return aclmdlRIBuildEnd(m_, nullptr); },
           {{kNull, [&] { return aclmdlRIBuildEnd(nullptr, nullptr); }},
            {kNull, [&] { return aclmdlRIBuildEnd(m_, m_); }}}},
          {"aclmdlRIAbort", [&] { return aclmdlRIAbort(m_); }, {{kNull, [&] { return aclmdlRIAbort(nullptr); }}}},
      },
      LastError::kHides);
  EXPECT_EQ(model_out_, Nonsense());
}

TEST_F(RefusedModel, StreamsOfModelsAreRefused) {
  int left = 1, right = 2;
  auto switch_to = [&](void* l, void* r, aclrtStream yes, aclrtStream no, aclrtStream on) {
    return aclrtSwitchStream(l, ACL_RT_EQUAL, r, ACL_RT_SWITCH_INT32, yes, no, on);
  };
  ExpectRefusals(
      {
          {"aclrtActiveStream",
           [&] { return aclrtActiveStream(stream_, stream_); },
           {{kNull, [&] { return aclrtActiveStream(nullptr, stream_); }},
            {kNull, [&] { return aclrtActiveStream(stream_, nullptr); }},
            {kStale, [&] { return aclrtActiveStream(m_, stream_); }},
            {kStale, [&] { return aclrtActiveStream(stream_, m_); }}}},
          {"aclrtSwitchStream",
           [&] { return switch_to(&left, &right, stream_, nullptr, stream_); },
           {{kNull, [&] { return switch_to(nullptr, &right, stream_, nullptr, stream_); }},
            {kNull, [&] { return switch_to(&left, nullptr, stream_, nullptr, stream_); }},
            {kNull, [&] { return switch_to(&left, &right, nullptr, nullptr, stream_); }},
            {kNull, [&] { return switch_to(&left, &right, stream_, nullptr, nullptr); }},
            {kNull, [&] { return switch_to(&left, &right, stream_, stream_, stream_); }},
            {kStale, [&] { return switch_to(&left, &right, m_, nullptr, stream_); }}}},
          {"aclrtPersistentTaskClean",
           [&] { return aclrtPersistentTaskClean(stream_); },
           {{kStale, [&] { return aclrtPersistentTaskClean(m_); }}}},
          {"aclrtSetLabel",
           [&] { return aclrtSetLabel(m_, stream_); },
           {{kNull, [&] { return aclrtSetLabel(nullptr, stream_); }}, {kStale, [&] { return aclrtSetLabel(m_, m_); }}}},
          {"aclrtSwitchLabelByIndex",
           [&] { return aclrtSwitchLabelByIndex(m_, 2, m_, stream_); },
           {{kNull, [&] { return aclrtSwitchLabelByIndex(nullptr, 2, m_, stream_); }},
            {kNull, [&] { return aclrtSwitchLabelByIndex(m_, 2, nullptr, stream_); }},
            {kRange, [&] { return aclrtSwitchLabelByIndex(m_, 0, m_, stream_); }},
            {kStale, [&] { return aclrtSwitchLabelByIndex(m_, 2, m_, m_); }}}},
      },
      LastError::kHides);
}

TEST_F(RefusedModel, ConditionsAreRefused) {
  uint64_t* condition = nullptr;
  aclmdlRI branches[1] = {};
  const aclmdlRICondTaskParams task = {m_, ACL_MODEL_RI_COND_TYPE_IF, 1, branches};
  const aclmdlRICondTaskParams no_handle = {nullptr, ACL_MODEL_RI_COND_TYPE_IF, 1, branches};
  const auto assign = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
  const auto mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  const auto bad_mode = static_cast<aclmdlRICaptureMode>(3);
  ExpectRefusals(
      {
          {"aclmdlRICondHandleCreate",
           [&] { return aclmdlRICondHandleCreate(m_, 0, assign, &model_out_); },
           {{kNull, [&] { return aclmdlRICondHandleCreate(nullptr, 0, assign, &model_out_); }},
            {kNull, [&] { return aclmdlRICondHandleCreate(m_, 0, assign, nullptr); }},
            {kRange,
             [&] { return aclmdlRICondHandleCreate(m_, 0, static_cast<aclmdlRICondHandleFlag>(2), &model_out_); }}}},
          {"aclmdlRICondHandleGetCondPtr",
           [&] { return aclmdlRICondHandleGetCondPtr(m_, &condition); },
           {{kNull, [&] { return aclmdlRICondHandleGetCondPtr(nullptr, &condition); }},
            {kNull, [&] { return aclmdlRICondHandleGetCondPtr(m_, nullptr); }}}},
          {"aclmdlRIAddCondTask",
           [&] { return aclmdlRIAddCondTask(task, stream_, 0); },
           {{kNull, [&] { return aclmdlRIAddCondTask(no_handle, stream_, 0); }},
            {kNull, [&] { return aclmdlRIAddCondTask(task, nullptr, 0); }},
            {kStale, [&] { return aclmdlRIAddCondTask(task, m_, 0); }},
            {kRange, [&] { return aclmdlRIAddCondTask(task, stream_, 1); }}}},
          {"aclmdlRICaptureToModelRIBegin",
           [&] { return aclmdlRICaptureToModelRIBegin(stream_, m_, mode); },
           {{kNull, [&] { return aclmdlRICaptureToModelRIBegin(nullptr, m_, mode); }},
            {kNull, [&] { return aclmdlRICaptureToModelRIBegin(stream_, nullptr, mode); }},
            {kStale, [&] { return aclmdlRICaptureToModelRIBegin(m_, m_, bad_mode); }},
            {kRange, [&] { return aclmdlRICaptureToModelRIBegin(stream_, m_, bad_mode); }}}},
      },
      LastError::kHides);
  EXPECT_EQ(condition, nullptr);
  EXPECT_EQ(model_out_, Nonsense());
}

TEST_F(RefusedModel, KernelAttributesAreRefused) {
  constexpr auto kTimeout = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
  aclrtLaunchKernelAttrValue value = {};
  ExpectRefusals({{"aclmdlRIKernelTaskGetAttribute",
                   [&] { return aclmdlRIKernelTaskGetAttribute(m_, kTimeout, &value); },
                   {{kNull, [&] { return aclmdlRIKernelTaskGetAttribute(nullptr, kTimeout, &value); }},
                    {kNull, [&] { return aclmdlRIKernelTaskGetAttribute(m_, kTimeout, nullptr); }}}}},
                 LastError::kHides);
}

using RefusedDump = BareTest;

TEST_F(RefusedDump, IsRefused) {
  ExpectRefusals(
      {
          {"aclmdlInitDump", [] { return aclmdlInitDump(); }},
          {"aclmdlSetDump",
           [] { return aclmdlSetDump("dump.json"); },
           {{kNull, [] { return aclmdlSetDump(nullptr); }}}},
          {"aclmdlFinalizeDump", [] { return aclmdlFinalizeDump(); }},
      },
      LastError::kShows);
}

}  // namespace model_test
}  // namespace ropeway_test
#endif
