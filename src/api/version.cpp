// Versions and names (rules/init.md 5), what the software can do, and the calls of ropeway.h. None of them needs a
// device.
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

#include "api/entry.h"
#include "api/package_version.h"
#include "base/error_log.h"
#include "engine/watcher.h"
#include "memory/pool.h"
#include "ropeway/ropeway.h"
#include "runtime/machine.h"
#include "runtime/product.h"
#include "stream/count_notify.h"
#include "stream/event.h"
#include "stream/model.h"
#include "stream/notify.h"
#include "watch/trace.h"

#define RW_TEXT_(number) #number
#define RW_TEXT(number) RW_TEXT_(number)

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// Folders of the package names, in the order of the enum.
constexpr const char* kPackages[] = {"runtime", "runtime", "bisheng-compiler", "hccl", "oam-tools", "ops-legacy", "ops-legacy", "driver"};

constexpr aclCannAttr kCannAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16, ACL_CANN_ATTR_JIT_COMPILE};
// In that order. A2 has infinities and bfloat16, and prefers compiled operators to compiling them on the way.
constexpr int32_t kAttributeValues[] = {1, 1, 0};

Result<std::string> ReadVersion(const char* package) {
  std::optional<std::string> text = FindPackageVersion(package);
  if (text) return *text;
  return Reject(ACL_ERROR_INVALID_FILE, "no version.info with a Version= line for package %s; is ASCEND_HOME_PATH set to an install tree?",
                package);
}

void CountObjects(ropewayLiveCounts* counts) {
  Contexts().ForEachInUse(
      [&](Context* context) { counts->contexts += (context->generation() & 1) != 0 && context->alive() && !context->is_default(); });
  Streams().ForEachInUse([&](Stream* stream) { counts->streams += (stream->generation() & 1) != 0 && !stream->is_default(); });
  counts->events = Events().live();
  counts->notifies = Notifies().live() + CountNotifies().live();
  counts->models = Models().live();
  counts->pools = Pool::open_count();
}

void CountMemory(Memory& memory, ropewayLiveCounts* counts) {
  for (int device = 0; device < ThisMachine().devices; ++device) {
    const Heap::Usage usage = memory.device_usage(device);
    counts->deviceBlocks += usage.blocks;
    counts->deviceBytes += usage.bytes;
    if (memory.managed() == nullptr) continue;
    const Heap::Usage managed = memory.managed()->usage(device);
    counts->managedBlocks += managed.blocks;
    counts->managedBytes += managed.bytes;
  }
  const Heap::Usage host = memory.host_usage();
  counts->hostBlocks = host.blocks;
  counts->hostBytes = host.bytes;
  counts->registrations = memory.registration_count();
  counts->reservations = memory.virtual_memory().reservations();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("majorVersion", majorVersion));
    RW_TRY(RequirePointer("minorVersion", minorVersion));
    RW_TRY(RequirePointer("patchVersion", patchVersion));
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return Ok();
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("version", version));
    const auto index = static_cast<uint32_t>(name);
    if (index >= std::size(kPackages))
      return Reject(ACL_ERROR_INVALID_PARAM, "name %d is not a package; they are 0 to %zu", static_cast<int>(name),
                    std::size(kPackages) - 1);
    RW_TRY_SET(std::string text, ReadVersion(kPackages[index]));
    if (!SplitPackageVersion(text, version))
      return Reject(ACL_ERROR_INVALID_FILE, "the version \"%s\" of package %s has fewer than two components", text.c_str(),
                    kPackages[index]);
    return Ok();
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pkgName", pkgName));
    RW_TRY(RequirePointer("versionStr", versionStr));
    RW_TRY_SET(std::string text, ReadVersion(pkgName));
    snprintf(versionStr, ACL_PKG_VERSION_MAX_SIZE, "%s", text.c_str());
    return Ok();
  });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pkgName", pkgName));
    RW_TRY(RequirePointer("versionNum", versionNum));
    RW_TRY_SET(std::string text, ReadVersion(pkgName));
    const std::optional<int32_t> number = PackageVersionNumber(text);
    if (!number)
      return Reject(ACL_ERROR_INTERNAL_ERROR, "the version \"%s\" of package %s does not have the form 8.5.1 or 8.5.1-alpha001",
                    text.c_str(), pkgName);
    *versionNum = *number;
    return Ok();
  });
}

const char* aclrtGetSocName() { return GetConfig().soc_name.c_str(); }

// Code for one product of a family runs on the others (rules/devices.md 4).
aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("socVersion", socVersion));
    RW_TRY(RequirePointer("canCompatible", canCompatible));
    *canCompatible = FindProduct(socVersion) == &ThisProduct() ? 1 : 0;
    return Ok();
  });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("cannAttrList", cannAttrList));
    RW_TRY(RequirePointer("num", num));
    *cannAttrList = kCannAttributes;
    *num = std::size(kCannAttributes);
    return Ok();
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    const auto index = static_cast<uint32_t>(cannAttr);
    if (index >= std::size(kAttributeValues))
      return Reject(ACL_ERROR_INVALID_PARAM, "cannAttr %d is not one of the attributes that aclGetCannAttributeList gives",
                    static_cast<int>(cannAttr));
    *value = kAttributeValues[index];
    return Ok();
  });
}

const char* ropewayGetVersion() {
  return RW_TEXT(ROPEWAY_VERSION_MAJOR) "." RW_TEXT(ROPEWAY_VERSION_MINOR) "." RW_TEXT(ROPEWAY_VERSION_PATCH);
}

const char* ropewayGetEngineName() { return ThisMachine().engine.c_str(); }

const char* ropewayGetEngineReason() { return ThisMachine().reason.c_str(); }

const char* ropewayGetAddressReason() {
  Runtime* runtime = Runtime::GetIfStarted();
  return runtime == nullptr ? "no device was set yet" : runtime->memory().address_reason().c_str();
}

aclError ropewayFileErrorText(const char* text) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("text", text));
    FileText(text, nullptr);
    return Ok();
  });
}

aclError ropewayTellErrorSite(const void* caller, const char* site) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("caller", caller));
    TellSite(caller, site);
    return Ok();
  });
}

aclError ropewayTellRank(uint32_t rank, uint32_t ranks) {
  return PlainEntry(__func__, [&]() -> Status {
    if (Runtime::GetIfStarted() != nullptr) TellTraceRank(rank, ranks);
    return Ok();
  });
}

int32_t ropewayIsTraced() { return ActiveWatcher() != nullptr ? 1 : 0; }

aclError ropewayTellCaller(const char* call, const void* caller) {
  t_outer_call = {caller, caller == nullptr ? nullptr : call};
  return ACL_SUCCESS;
}

aclError ropewayTellPlace(const char* text, const void** place) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("text", text));
    RW_TRY(RequirePointer("place", place));
    *place = TellTracePlace(text);
    return Ok();
  });
}

aclError ropewayTellWait(uint32_t rank, uint64_t* begun) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("begun", begun));
    Watcher* const watcher = ActiveWatcher();
    if (watcher == nullptr) return Ok();
    const WaitSight sight{WaitReason::kRank, 0, rank};
    if (*begun == 0) {
      *begun = watcher->WaitBegins(sight);
    } else {
      watcher->WaitEnds(sight, *begun);
    }
    return Ok();
  });
}

aclError ropewayRequireUsable() {
  return PlainEntry(__func__, [] { return Runtime::RequireUsable(); });
}

aclError ropewayGetLiveCounts(ropewayLiveCounts* counts) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("counts", counts));
    *counts = {};
    Runtime* runtime = Runtime::GetIfStarted();
    if (runtime == nullptr) return Ok();
    CountObjects(counts);
    CountMemory(runtime->memory(), counts);
    return Ok();
  });
}
