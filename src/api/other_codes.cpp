#include "api/other_codes.h"

#include <algorithm>
#include <iterator>

namespace ropeway::api {
namespace {

struct OtherCode {
  aclError code;
  drvError_t driver;
  int dcmi;
};

constexpr int kDcmiArgument = -8001, kDcmiOther = -8005, kDcmiNoDevice = -8007, kDcmiNotSupported = -8255;

constexpr OtherCode kOtherCodes[] = {
    {ACL_SUCCESS, DRV_ERROR_NONE, 0},
    {ACL_ERROR_INVALID_PARAM, DRV_ERROR_PARA_ERROR, kDcmiArgument},
    {ACL_ERROR_RT_PARAM_INVALID, DRV_ERROR_INVALID_VALUE, kDcmiArgument},
    {ACL_ERROR_RT_INVALID_DEVICEID, DRV_ERROR_INVALID_DEVICE, kDcmiNoDevice},
    {ACL_ERROR_RT_CONTEXT_NULL, DRV_ERROR_NO_DEVICE, kDcmiNoDevice},
    {ACL_ERROR_RT_INVALID_HANDLE, DRV_ERROR_INVALID_HANDLE, kDcmiArgument},
    {ACL_ERROR_RT_MEMORY_ALLOCATION, DRV_ERROR_OUT_OF_MEMORY, kDcmiOther},
    {ACL_ERROR_RT_NO_DEVICE, DRV_ERROR_NO_DEVICE, kDcmiNoDevice},
    {ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, DRV_ERROR_REPEATED_INIT, kDcmiOther},
    {ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, DRV_ERROR_NOT_EXIST, kDcmiOther},
    {ACL_ERROR_RT_FEATURE_NOT_SUPPORT, DRV_ERROR_NOT_SUPPORT, kDcmiNotSupported},
};
constexpr OtherCode kUnnamed = {0, DRV_ERROR_INNER_ERR, kDcmiOther};

const OtherCode& Find(aclError code) {
  const auto* found =
      std::find_if(std::begin(kOtherCodes), std::end(kOtherCodes), [&](const OtherCode& known) { return known.code == code; });
  return found == std::end(kOtherCodes) ? kUnnamed : *found;
}

}  // namespace

drvError_t Driver::Of(aclError code) { return Find(code).driver; }
int Dcmi::Of(aclError code) { return Find(code).dcmi; }

}  // namespace ropeway::api
