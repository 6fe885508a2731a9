// Every call of the table of refused ones (src/hccl/api/refused.inc): its answer and its text.
#include "hccl/hccl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"
#include "support/refused_table.h"

namespace refused_test {

using namespace ropeway_test;

std::vector<RefusedCall> Calls() {
  std::vector<RefusedCall> calls;
// clang-format off
#define TEXT(name, text) const char* const name = text;
#define REFUSED(type, call, parameters, text) calls.push_back(CallOf<&call>(Refusal::kCode, #call, #parameters, text, {}));
#include "src/hccl/api/refused.inc"
  // clang-format on
  return calls;
}

void Judge(const RefusedCall& call, const std::vector<uint64_t>& arguments, int code, const char* words) {
  TakeErrorText();
  EXPECT_EQ(call.call(arguments.data()), static_cast<uint64_t>(code));
  const std::string text = TakeErrorText();
  EXPECT_NE(text.find(call.name + std::string(": ")), std::string::npos) << text;
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(HcclRefused, EveryCallOfTheTableIsRefused) {
  for (const RefusedCall& call : Calls()) TryRefusedCall(call, Judge, HCCL_E_NOT_SUPPORT);
}

TEST(HcclErrorString, EveryResultHasATextOfItsOwn) {
  std::vector<std::string> seen;
  for (int code = 0; code <= HCCL_E_RESERVED; ++code) {
    if (code > HCCL_E_OOM && code < HCCL_E_IN_STATUS) continue;
    const std::string text = HcclGetErrorString(static_cast<HcclResult>(code));
    EXPECT_FALSE(text.empty());
    for (const std::string& other : seen) EXPECT_NE(text, other) << code;
    seen.push_back(text);
  }
  EXPECT_STREQ(HcclGetErrorString(static_cast<HcclResult>(99)), HcclGetErrorString(HCCL_E_RESERVED));
}

}  // namespace refused_test
