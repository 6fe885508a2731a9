// Models, capture, what belongs to models built by hand, and the data dump are refused.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kStale = ACL_ERROR_RT_INVALID_HANDLE;

void Ignore(void*) {}

class RefusedModel : public StreamTest {
 protected:
  void* const m_ = Nonsense();
  uint32_t number_ = 77;
  aclmdlRI model_out_ = Nonsense();
};

TEST_F(RefusedModel, CaptureIsRefused) {
  auto status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  auto mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  auto bad_mode = static_cast<aclmdlRICaptureMode>(3);
  ExpectRefusals(
      {
          {"aclmdlRICaptureBegin",
           [&] { return aclmdlRICaptureBegin(stream_, mode); },
           {{kNull, [&] { return aclmdlRICaptureBegin(nullptr, bad_mode); }},
            {kStale, [&] { return aclmdlRICaptureBegin(m_, bad_mode); }},
            {kRange, [&] { return aclmdlRICaptureBegin(stream_, bad_mode); }}}},
          {"aclmdlRICaptureGetInfo",
           [&] { return aclmdlRICaptureGetInfo(stream_, &status, &model_out_); },
           {{kNull, [&] { return aclmdlRICaptureGetInfo(nullptr, &status, &model_out_); }},
            {kNull, [&] { return aclmdlRICaptureGetInfo(stream_, nullptr, nullptr); }},
            {kStale, [&] { return aclmdlRICaptureGetInfo(m_, &status, nullptr); }}}},
          {"aclmdlRICaptureEnd",
           [&] { return aclmdlRICaptureEnd(stream_, &model_out_); },
           {{kNull, [&] { return aclmdlRICaptureEnd(nullptr, &model_out_); }},
            {kStale, [&] { return aclmdlRICaptureEnd(m_, &model_out_); }}}},
          {"aclmdlRICaptureThreadExchangeMode",
           [&] { return aclmdlRICaptureThreadExchangeMode(&mode); },
           {{kNull, [&] { return aclmdlRICaptureThreadExchangeMode(nullptr); }},
            {kRange, [&] { return aclmdlRICaptureThreadExchangeMode(&bad_mode); }}}},
          {"aclmdlRICaptureTaskGrpBegin",
           [&] { return aclmdlRICaptureTaskGrpBegin(stream_); },
           {{kNull, [&] { return aclmdlRICaptureTaskGrpBegin(nullptr); }},
            {kStale, [&] { return aclmdlRICaptureTaskGrpBegin(m_); }}}},
          {"aclmdlRICaptureTaskGrpEnd",
           [&] { return aclmdlRICaptureTaskGrpEnd(stream_, &model_out_); },
           {{kNull, [&] { return aclmdlRICaptureTaskGrpEnd(nullptr, &model_out_); }},
            {kNull, [&] { return aclmdlRICaptureTaskGrpEnd(stream_, nullptr); }}}},
          {"aclmdlRICaptureTaskUpdateBegin",
           [&] { return aclmdlRICaptureTaskUpdateBegin(stream_, m_); },
           {{kNull, [&] { return aclmdlRICaptureTaskUpdateBegin(nullptr, m_); }},
            {kNull, [&] { return aclmdlRICaptureTaskUpdateBegin(stream_, nullptr); }}}},
          {"aclmdlRICaptureTaskUpdateEnd",
           [&] { return aclmdlRICaptureTaskUpdateEnd(stream_); },
           {{kNull, [&] { return aclmdlRICaptureTaskUpdateEnd(nullptr); }}}},
          {"aclmdlRICaptureToModelRIBegin",
           [&] { return aclmdlRICaptureToModelRIBegin(stream_, m_, mode); },
           {{kNull, [&] { return aclmdlRICaptureToModelRIBegin(nullptr, m_, mode); }},
            {kNull, [&] { return aclmdlRICaptureToModelRIBegin(stream_, nullptr, mode); }},
            {kRange, [&] { return aclmdlRICaptureToModelRIBegin(stream_, m_, bad_mode); }}}},
      },
      LastError::kHides);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(model_out_, Nonsense());
}

TEST_F(RefusedModel, WorkBehindARefusedCaptureRunsAtOnce) {
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  DeviceBuffer block(64);
  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 0x5A, 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), std::vector<uint8_t>(64, 0x5A));
}

TEST_F(RefusedModel, ExecuteAndDestroyAreRefused) {
  ExpectRefusals(
      {
          {"aclmdlRIExecuteAsync",
           [&] { return aclmdlRIExecuteAsync(m_, stream_); },
           {{kNull, [&] { return aclmdlRIExecuteAsync(nullptr, stream_); }},
            {kStale, [&] { return aclmdlRIExecuteAsync(m_, m_); }}}},
          {"aclmdlRIExecute",
           [&] { return aclmdlRIExecute(m_, -1); },
           {{kNull, [&] { return aclmdlRIExecute(nullptr, 0); }},
            {kRange, [&] { return aclmdlRIExecute(m_, 0); }},
            {kRange, [&] { return aclmdlRIExecute(m_, -2); }}}},
          {"aclmdlRIAbort", [&] { return aclmdlRIAbort(m_); }, {{kNull, [&] { return aclmdlRIAbort(nullptr); }}}},
          {"aclmdlRIDestroy", [&] { return aclmdlRIDestroy(m_); }, {{kNull, [&] { return aclmdlRIDestroy(nullptr); }}}},
          {"aclmdlRIDestroyRegisterCallback",
           [&] { return aclmdlRIDestroyRegisterCallback(m_, Ignore, nullptr); },
           {{kNull, [&] { return aclmdlRIDestroyRegisterCallback(nullptr, Ignore, nullptr); }},
            {kNull, [&] { return aclmdlRIDestroyRegisterCallback(m_, nullptr, nullptr); }}}},
          {"aclmdlRIDestroyUnregisterCallback",
           [&] { return aclmdlRIDestroyUnregisterCallback(m_, Ignore); },
           {{kNull, [&] { return aclmdlRIDestroyUnregisterCallback(nullptr, Ignore); }}}},
          {"aclmdlRISetName",
           [&] { return aclmdlRISetName(m_, "net"); },
           {{kNull, [&] { return aclmdlRISetName(nullptr, "net"); }},
            {kNull, [&] { return aclmdlRISetName(m_, nullptr); }}}},
          {"aclmdlRIGetId",
           [&] { return aclmdlRIGetId(m_, &number_); },
           {{kNull, [&] { return aclmdlRIGetId(nullptr, &number_); }},
            {kNull, [&] { return aclmdlRIGetId(m_, nullptr); }}}},
          {"aclmdlRIDebugPrint",
           [&] { return aclmdlRIDebugPrint(m_); },
           {{kNull, [&] { return aclmdlRIDebugPrint(nullptr); }}}},
          {"aclmdlRIDebugJsonPrint",
           [&] { return aclmdlRIDebugJsonPrint(m_, "model.json", 0); },
           {{kNull, [&] { return aclmdlRIDebugJsonPrint(nullptr, "model.json", 0); }},
            {kNull, [&] { return aclmdlRIDebugJsonPrint(m_, nullptr, 0); }}}},
      },
      LastError::kHides);
  EXPECT_EQ(number_, 77u);
}

TEST_F(RefusedModel, GetNameIsRefused) {
  char name[8] = "as is";
  ExpectRefusals({{"aclmdlRIGetName",
                   [&] { return aclmdlRIGetName(m_, sizeof(name), name); },
                   {{kNull, [&] { return aclmdlRIGetName(nullptr, sizeof(name), name); }},
                    {kNull, [&] { return aclmdlRIGetName(m_, 0, nullptr); }},
                    {kRange, [&] { return aclmdlRIGetName(m_, 0, name); }}}}},
                 LastError::kHides);
  EXPECT_STREQ(name, "as is");
}

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

TEST_F(RefusedModel, TasksOfModelsAreRefused) {
  auto type = ACL_MODEL_RI_TASK_VALUE_WAIT;
  aclmdlRITaskParams params = {};
  aclrtLaunchKernelAttrValue value = {};
  ExpectRefusals(
      {
          {"aclmdlRIGetStreams",
           [&] { return aclmdlRIGetStreams(m_, nullptr, &number_); },
           {{kNull, [&] { return aclmdlRIGetStreams(nullptr, nullptr, &number_); }},
            {kRange, [&] { return aclmdlRIGetStreams(m_, nullptr, nullptr); }}}},
          {"aclmdlRIGetTasksByStream",
           [&] { return aclmdlRIGetTasksByStream(stream_, nullptr, &number_); },
           {{kRange, [&] { return aclmdlRIGetTasksByStream(nullptr, nullptr, &number_); }},
            {kStale, [&] { return aclmdlRIGetTasksByStream(m_, nullptr, nullptr); }},
            {kRange, [&] { return aclmdlRIGetTasksByStream(stream_, nullptr, nullptr); }}}},
          {"aclmdlRITaskGetType",
           [&] { return aclmdlRITaskGetType(m_, &type); },
           {{kNull, [&] { return aclmdlRITaskGetType(nullptr, &type); }},
            {kNull, [&] { return aclmdlRITaskGetType(m_, nullptr); }}}},
          {"aclmdlRITaskGetSeqId",
           [&] { return aclmdlRITaskGetSeqId(m_, &number_); },
           {{kNull, [&] { return aclmdlRITaskGetSeqId(m_, nullptr); }}}},
          {"aclmdlRITaskGetParams",
           [&] { return aclmdlRITaskGetParams(m_, &params); },
           {{kNull, [&] { return aclmdlRITaskGetParams(m_, nullptr); }}}},
          {"aclmdlRITaskSetParams",
           [&] { return aclmdlRITaskSetParams(m_, &params); },
           {{kNull, [&] { return aclmdlRITaskSetParams(m_, nullptr); }}}},
          {"aclmdlRIKernelTaskGetAttribute",
           [&] { return aclmdlRIKernelTaskGetAttribute(m_, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, &value); },
           {{kNull, [&] { return aclmdlRIKernelTaskGetAttribute(m_, ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, nullptr); }}}},
          {"aclmdlRITaskDisable",
           [&] { return aclmdlRITaskDisable(m_); },
           {{kNull, [&] { return aclmdlRITaskDisable(nullptr); }}}},
          {"aclmdlRIUpdate", [&] { return aclmdlRIUpdate(m_); }, {{kNull, [&] { return aclmdlRIUpdate(nullptr); }}}},
      },
      LastError::kHides);
  EXPECT_EQ(type, ACL_MODEL_RI_TASK_VALUE_WAIT);
  EXPECT_EQ(number_, 77u);
}

TEST_F(RefusedModel, ConditionsAreRefused) {
  uint64_t* condition = nullptr;
  aclmdlRI branches[1] = {};
  const aclmdlRICondTaskParams task = {m_, ACL_MODEL_RI_COND_TYPE_IF, 1, branches};
  const aclmdlRICondTaskParams no_handle = {nullptr, ACL_MODEL_RI_COND_TYPE_IF, 1, branches};
  const auto assign = ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT;
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
      },
      LastError::kHides);
  EXPECT_EQ(condition, nullptr);
  EXPECT_EQ(model_out_, Nonsense());
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

}  // namespace
}  // namespace ropeway_test
#endif
