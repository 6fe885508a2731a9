// What programs fill in before they load an offline model: descriptions, which stay empty, and settings, which are checked and kept.
// Loading itself is refused (refused/models.inc).
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "acl/acl_mdl.h"
#include "api/checks.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclmdlDesc {};
struct aclmdlBundleQueryInfo {};
struct aclmdlConfigHandle {
  std::map<int, std::vector<char>> settings;
};
struct aclmdlExecConfigHandle {
  std::map<int, std::vector<char>> settings;
};

namespace ropeway::api {
namespace {

template <typename T>
T* Make(const char* call) {
  T* made = nullptr;
  static_cast<void>(Entry(call, [&]() -> Status {
    made = new T;
    return Ok();
  }));
  return made;
}

template <typename T>
aclError Destroy(const char* call, const char* name, T* made) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer(name, made));
    delete made;
    return Ok();
  });
}

// The name of an attribute ends in what it takes: 4 bytes where that is INT32, and 8 for a size or an address.
size_t SizeOf(aclmdlConfigAttr attr) { return attr == ACL_MDL_PRIORITY_INT32 || attr == ACL_MDL_WITHOUT_GRAPH_INT32 ? 4 : 8; }
size_t SizeOf(aclmdlExecConfigAttr attr) { return attr <= ACL_MDL_EVENT_SYNC_TIMEOUT || attr == ACL_MDL_EXEC_PRIORITY_INT32 ? 4 : 8; }

template <typename Handle, typename Attribute>
aclError Set(const char* call, Handle* handle, Attribute attr, Attribute last, const void* value, size_t size) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"attrValue", value}}));
    RW_TRY(RequireRange(Layer::kOuter, "attr", attr, 0, last));
    if (size != SizeOf(attr))
      return Reject(ACL_ERROR_INVALID_PARAM, "valueSize %zu does not fit attr %d, which takes %zu bytes", size, static_cast<int>(attr),
                    SizeOf(attr));
    const char* bytes = static_cast<const char*>(value);
    handle->settings[attr].assign(bytes, bytes + size);
    return Ok();
  });
}

}  // namespace
}  // namespace ropeway::api

aclmdlDesc* aclmdlCreateDesc(void) { return Make<aclmdlDesc>(__func__); }
aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) { return Destroy(__func__, "modelDesc", modelDesc); }

aclmdlBundleQueryInfo* aclmdlBundleCreateQueryInfo(void) { return Make<aclmdlBundleQueryInfo>(__func__); }
aclError aclmdlBundleDestroyQueryInfo(aclmdlBundleQueryInfo* queryInfo) { return Destroy(__func__, "queryInfo", queryInfo); }

aclmdlConfigHandle* aclmdlCreateConfigHandle(void) { return Make<aclmdlConfigHandle>(__func__); }
aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) { return Destroy(__func__, "handle", handle); }
aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr, const void* attrValue, size_t valueSize) {
  return Set(__func__, handle, attr, ACL_NPU_PERF_MODE, attrValue, valueSize);
}

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle(void) { return Make<aclmdlExecConfigHandle>(__func__); }
aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle) { return Destroy(__func__, "handle", handle); }
aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr, const void* attrValue, size_t valueSize) {
  return Set(__func__, handle, attr, ACL_MDL_NPU_PERF_MODE, attrValue, valueSize);
}
