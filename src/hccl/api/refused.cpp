// The functions of refused.inc, which says what each word means.
#include "hccl/base/result.h"
#include "hccl/hccl_channel.h"
#include "hccl/hccl_res.h"
#include "hcomm/hcomm_primitives.h"

using namespace ropeway::comm;

// clang-format off
#define TEXT(name, text) static constexpr const char* name = text;
#define REFUSED(type, call, parameters, text) \
  type call parameters { return Entry(#call, [&]() -> Status { return Fail(HCCL_E_NOT_SUPPORT, "%s", text); }); }
#include "hccl/api/refused.inc"
// clang-format on
