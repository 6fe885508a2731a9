// Every call of the table of refused ones: its checks, their order, its answer and its text. For this library only: the original has most
// of these functions.
#include "acl/acl_dump.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_platform.h"
#include "acl/acl_sk.h"
#include "acl/acl_tdt.h"
#include "aclnn/acl_meta.h"
#include "dcmi_interface_api.h"
#include "driver/ascend_hal.h"
#include "dsmi_common_interface.h"
#include "runtime/rt.h"
#include "tests/support/refused_table.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace table_test {

constexpr int kOuter = ACL_ERROR_INVALID_PARAM, kRuntime = ACL_ERROR_RT_PARAM_INVALID;

RefusedCheck Range(int code, const char* parameter, int64_t least, int64_t most) {
  return {parameter, code, static_cast<uint64_t>(least), {static_cast<uint64_t>(least - 1), static_cast<uint64_t>(most + 1)}};
}

std::vector<RefusedCall> Calls(aclrtStream live) {
  std::vector<RefusedCall> calls;
  const uint64_t stream = WordOf(live), nonsense = WordOf(Nonsense());
// clang-format off
#define TEXT(name, text) const char* const name = text;
#define GIVEN(pointer) {#pointer, kOuter, nonsense, {0}},
#define GIVEN_BELOW(pointer) {#pointer, kRuntime, nonsense, {0}},
#define RESERVED(pointer) {#pointer, kOuter, 0, {nonsense}},
#define LIVE_STREAM(parameter) {#parameter, ACL_ERROR_RT_INVALID_HANDLE, stream, {nonsense}},
#define SOME(code, number) {#number, code, 1, {0}},
#define ZERO(code, number) {#number, code, 0, {1}},
#define RANGE(code, number, least, most) Range(code, #number, least, most),
#define DEVICE(number) {#number, ACL_ERROR_RT_INVALID_DEVICEID, 0, {INT32_MAX}},
#define CONTEXT()  // CacheFlushAsksForAContext
#define REFUSED(call, parameters, text, checks) calls.push_back(CallOf<&call>(Refusal::kCode, #call, #parameters, text, {checks}));
#define REFUSED_QUIETLY(call, parameters, text, checks) \
  calls.push_back(CallOf<&call>(Refusal::kQuietCode, #call, #parameters, text, {checks}));
#define REFUSED_WITH_NULL(type, call, parameters, text) calls.push_back(CallOf<&call>(Refusal::kNull, #call, #parameters, text, {}));
#define REFUSED_BY(library, call, parameters, text, checks) \
  calls.push_back(CallOf<&call>(Refusal::kCode, #call, #parameters, text, {checks}));
#define CONSTANT(type, call, parameters, value) \
  calls.push_back(CallOf<&call>(Refusal::kConstant, #call, #parameters, "", {})); \
  calls.back().constant = AnswerOf(static_cast<type>(value));
#include "src/api/refused/table.inc"
  // clang-format on
  return calls;
}

// What other libraries say instead of a code.
uint64_t AnswerFor(const RefusedCall& call, int code) {
  const std::string_view name = call.name;
  if (call.how == Refusal::kNull) return 0;
  const bool refused = code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  if (name.starts_with("hal") || name.starts_with("drv") || name.starts_with("dsmi_"))
    return refused ? DRV_ERROR_NOT_SUPPORT : DRV_ERROR_PARA_ERROR;
  const bool operators =
      name.starts_with("AclSet") || name.starts_with("aclSet") || name.ends_with("AclOpExecutor") || name == "aclDumpOpTensors";
  if (operators && code == kOuter) return 161001;
  if (name.starts_with("dcmi_")) return static_cast<uint64_t>(refused ? -8255 : -8001);
  return static_cast<uint64_t>(code);
}

// Codes of the outer layer, and quiet refusals, are not seen by aclrtGetLastError.
int LastErrorOf(const RefusedCall& call, int code) {
  const bool quiet = call.how == Refusal::kQuietCode && code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  return quiet || code == ACL_ERROR_INVALID_PARAM ? ACL_SUCCESS : code;
}

// A constant is no failure: it leaves no text and no last error.
void JudgeConstant(const RefusedCall& call) {
  SCOPED_TRACE(call.name);
  TakeErrorText();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(call.call(call.arguments.data()), call.constant);
  EXPECT_EQ(call.call(std::vector<uint64_t>(call.arguments.size(), 0).data()), call.constant);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_EQ(TakeErrorText(), "");
}

void Judge(const RefusedCall& call, const std::vector<uint64_t>& arguments, int code, const char* words) {
  TakeErrorText();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(call.call(arguments.data()), AnswerFor(call, code));
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), LastErrorOf(call, code));
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find(call.name + std::string(": ")), std::string::npos) << "the text does not name the call: '" << text << "'";
  EXPECT_NE(text.find(code == ACL_ERROR_RT_INVALID_HANDLE ? "not a live stream" : words), std::string::npos) << text;
}

using RefusedTable = StreamTest;

TEST_F(RefusedTable, EveryCallChecksItsArgumentsInOrderAndIsRefused) {
  for (const RefusedCall& call : Calls(stream_)) {
    if (call.how == Refusal::kConstant) {
      JudgeConstant(call);
    } else {
      TryRefusedCall(call, Judge, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    }
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "the stream is left alone";
}

// The class of devices decides about these, so that they are not in the table.
TEST_F(RefusedTable, CountingNotifiesAreForAnotherProduct) {
  aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
  aclrtCntNotifyRecordInfo bad_record = {static_cast<aclrtCntNotifyRecordMode>(3), 1};
  aclrtCntNotifyWaitInfo equal = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 1, 0, 0, {}};
  aclrtCntNotifyWaitInfo bad_wait = {static_cast<aclrtCntNotifyWaitMode>(5), 1, 0, 0, {}};
  const char* const text = "no counting notifies";
  const uint64_t nonsense = WordOf(Nonsense());
  const RefusedCheck notify = {"cntNotify", kRuntime, nonsense, {0}};
  const RefusedCheck stream = {"stream", ACL_ERROR_RT_INVALID_HANDLE, WordOf(stream_), {nonsense}};
  auto given = [](void* info) { return RefusedCheck{"info", kOuter, WordOf(info), {0}}; };
  auto has_mode = [](void* good, void* bad) { return RefusedCheck{"info", kRuntime, WordOf(good), {WordOf(bad)}}; };
  const RefusedCall calls[] = {
      CallOf<&aclrtCntNotifyCreate>(Refusal::kCode, "aclrtCntNotifyCreate", "(cntNotify, flag)", text,
                                    {notify, {"flag", kRuntime, 0, {1}}}),
      CallOf<&aclrtCntNotifyDestroy>(Refusal::kCode, "aclrtCntNotifyDestroy", "(cntNotify)", text, {notify}),
      CallOf<&aclrtCntNotifyRecord>(Refusal::kCode, "aclrtCntNotifyRecord", "(cntNotify, stream, info)", text,
                                    {given(&add), notify, stream, has_mode(&add, &bad_record)}),
      CallOf<&aclrtCntNotifyWaitWithTimeout>(Refusal::kCode, "aclrtCntNotifyWaitWithTimeout", "(cntNotify, stream, info)", text,
                                             {given(&equal), notify, stream, has_mode(&equal, &bad_wait)}),
      CallOf<&aclrtCntNotifyReset>(Refusal::kCode, "aclrtCntNotifyReset", "(cntNotify, stream)", text, {notify, stream}),
      CallOf<&aclrtCntNotifyGetId>(Refusal::kCode, "aclrtCntNotifyGetId", "(cntNotify, notifyId)", text,
                                   {{"notifyId", kOuter, nonsense, {0}}, notify}),
  };
  for (const RefusedCall& call : calls) TryRefusedCall(call, Judge, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(RefusedTable, ABarrierLooksBehindItsPointer) {
  aclrtBarrierTaskInfo barriers = {};
  barriers.barrierNum = 1;
  barriers.cmoInfo[0] = {ACL_RT_CMO_TYPE_INVALID, 1};
  aclrtBarrierTaskInfo none = barriers, many = barriers, prefetch = barriers, no_id = barriers;
  none.barrierNum = 0;
  many.barrierNum = ACL_RT_CMO_MAX_BARRIER_NUM + 1;
  prefetch.cmoInfo[0].cmoType = ACL_RT_CMO_TYPE_PREFETCH;
  no_id.cmoInfo[0].barrierId = 0;
  for (aclrtBarrierTaskInfo* bad : {static_cast<aclrtBarrierTaskInfo*>(nullptr), &none, &many, &prefetch, &no_id})
    EXPECT_EQ(aclrtCmoWaitBarrier(bad, stream_, 0), kRuntime);
  EXPECT_EQ(aclrtCmoWaitBarrier(&barriers, stream_, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

using RefusedWithoutDevice = BareTest;

TEST_F(RefusedWithoutDevice, CacheFlushAsksForAContext) {
  EXPECT_EQ(aclrtDeviceL2CacheFlush(Nonsense()), kOuter);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
}

}  // namespace table_test
}  // namespace ropeway_test
#endif
