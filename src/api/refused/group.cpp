// Groups of device cores: there are no device cores here that could be grouped.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoGroups =
    "there are no device cores here that could be grouped; ROPEWAY_LANES says how many threads work";

}  // namespace

aclError aclrtSetGroup(int32_t) { return Refuse(__func__, kNoGroups); }

aclError aclrtGetGroupCount(uint32_t* count) { return Refuse(__func__, kNoGroups, {{"count", count}}); }

aclrtGroupInfo* aclrtCreateGroupInfo(void) { return RefuseWithNull(__func__, kNoGroups); }

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
  return Refuse(__func__, kNoGroups, {{"groupInfo", groupInfo}});
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
  return Refuse(__func__, kNoGroups, {{"groupInfo", groupInfo}});
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t, aclrtGroupAttr, void* attrValue, size_t,
                                 size_t* paramRetSize) {
  return Refuse(__func__, kNoGroups,
                {{"groupInfo", groupInfo}, {"attrValue", attrValue}, {"paramRetSize", paramRetSize}});
}
