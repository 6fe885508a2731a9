// How the CPU engine copies here, for people and for who measures it (`ropeway doctor`, `ropeway tune`). None of these needs a device.
#include "engine/cpu/copy_profile.h"

#include <string>

#include "api/entry.h"
#include "ropeway/ropeway.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// Who measures says the same words again and again.
struct SaidLast {
  std::string words;
  std::optional<cpu::CopyKernels> kernels;
};

Status CopyBy(const char* words, int through_cache, void* dst, const void* src, size_t size) {
  RW_TRY(RequirePointer("words", words));
  RW_TRY(RequirePointer("dst", dst));
  RW_TRY(RequirePointer("src", src));
  static thread_local SaidLast last;
  if (!last.kernels || last.words != words) {
    const std::optional<cpu::CopyProfile> profile = cpu::ProfileOf(words);
    if (!profile)
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "words \"%s\" name no way to copy that this CPU has; `ropeway doctor` shows what they look like", words);
    last = {words, cpu::KernelsOf(*profile)};
  }
  through_cache != 0 ? last.kernels->Cached(dst, src, size) : last.kernels->Stream(dst, src, size);
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

const char* ropewayGetCopyProfile() { return cpu::ThisProfile().text.c_str(); }

const char* ropewayGetCopyProfilePath() { return cpu::ThisProfile().path.c_str(); }

const char* ropewayGetCpuSignature() { return cpu::ThisProfile().cpu.c_str(); }

aclError ropewayCopyBy(const char* words, int through_cache, void* dst, const void* src, size_t size) {
  return PlainEntry(__func__, [&] { return CopyBy(words, through_cache, dst, src, size); });
}
