// Tables of calls that this library refuses: what each answers to plausible arguments, and which of its argument checks
// come before that. For this library only: the original has most of these functions.
#pragma once


#include "tests/support/acl_test.h"

namespace ropeway_test {

struct BadCall {
  aclError code;
  Callable<aclError()> call;
};

struct Refusal {
  const char* name;
  Callable<aclError()> plausible;
  std::vector<BadCall> bad = {};
};

// Whether aclrtGetLastError shows the 207000 (runtime.md 9.2: not of event, stream and capture calls).
enum class LastError { kShows, kHides };

// A handle that is nothing at all; whoever looks behind it crashes.
inline void* Nonsense() { return reinterpret_cast<void*>(0x1234567); }

inline void ExpectAnswer(const char* name, aclError expected, aclError last_error,
                         const Callable<aclError()>& call) {
  TakeErrorText();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(call(), expected);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), last_error);
  const std::string text = TakeErrorText();
  const size_t named = text.find(std::string(name) + ": ");
  EXPECT_NE(named, std::string::npos) << "the text does not name the call: '" << text << "'";
}

inline void ExpectRefusals(const std::vector<Refusal>& refusals, LastError last_error) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    ExpectAnswer(refusal.name, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 last_error == LastError::kShows ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : ACL_SUCCESS, refusal.plausible);
    for (size_t i = 0; i < refusal.bad.size(); ++i) {
      SCOPED_TRACE("bad call " + std::to_string(i));
      const aclError code = refusal.bad[i].code;
      ExpectAnswer(refusal.name, code, code == ACL_ERROR_INVALID_PARAM ? ACL_SUCCESS : code, refusal.bad[i].call);
    }
  }
}

}  // namespace ropeway_test
