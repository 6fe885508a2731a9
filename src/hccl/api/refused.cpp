// The functions of refused.inc, which says what each word means.
#include "hccl/base/result.h"
#include "hccl/hccl.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_ex.h"
#include "hccl/hccl_res.h"
#include "hccl/hccl_sym_win.h"
#include "hcomm/hcomm_primitives.h"

using namespace ropeway::comm;

// clang-format off
#define TEXT(name, text) static constexpr const char* name = text;
#define GIVEN(pointer) RW_TRY(RequirePointer(#pointer, pointer));
#define SOME(number) if (number == 0) return Fail(HCCL_E_PARA, "%s is 0", #number);
#define REFUSED(type, call, parameters, text, checks) \
  type call parameters { return Entry(#call, [&]() -> Status { checks return Fail(HCCL_E_NOT_SUPPORT, "%s", text); }); }
#include "hccl/api/refused.inc"
// clang-format on
