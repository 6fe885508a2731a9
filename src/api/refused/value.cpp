// Value write and value wait (copy-and-memory.md 7.4): not there yet.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoValues =
    "value write and value wait are not there yet; use events or notifies between streams";

}  // namespace

aclError aclrtValueWrite(void* devAddr, uint64_t, uint32_t, aclrtStream) {
  return Refuse(__func__, kNoValues, {{"devAddr", devAddr}});
}

aclError aclrtValueWait(void* devAddr, uint64_t, uint32_t, aclrtStream) {
  return Refuse(__func__, kNoValues, {{"devAddr", devAddr}});
}
