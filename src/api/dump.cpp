// Dumps of what operators read and wrote. None runs here, so the switches of a dump have no effect: they are turned and asked about as in
// the original, and the first to be turned on says on stderr that nothing will come of it.
#include <atomic>
#include <cstdio>

#include "acl/acl_dump.h"
#include "api/checks.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

std::atomic<bool> g_dump_is_on{false};

void SayThatNothingIsDumped() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  fprintf(stderr, "ropeway: aclmdlInitDump: no operators run here, so nothing will be dumped; ROPEWAY_TRACE writes a trace of all work\n");
}

Status RequireDump() {
  if (g_dump_is_on.load()) return Ok();
  return Reject(ACL_ERROR_DUMP_NOT_RUN, "no dump is going on; call aclmdlInitDump first");
}

}  // namespace
}  // namespace ropeway::api

aclError aclmdlInitDump(void) {
  return Entry(__func__, []() -> Status {
    if (g_dump_is_on.exchange(true)) return Reject(ACL_ERROR_DUMP_ALREADY_RUN, "a dump is going on; call aclmdlFinalizeDump first");
    SayThatNothingIsDumped();
    return Ok();
  });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dumpCfgPath", dumpCfgPath));
    return RequireDump();
  });
}

aclError aclmdlFinalizeDump(void) {
  return Entry(__func__, []() -> Status {
    RW_TRY(RequireDump());
    g_dump_is_on.store(false);
    return Ok();
  });
}

// There is never one to be taken back: registering is refused.
void acldumpUnregCallback(void) {}
