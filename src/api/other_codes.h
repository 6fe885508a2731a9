// What an aclError is called by libraries that have codes of their own: operators, the driver, and its tools for devices and cards.
#pragma once

#include "acl/acl_base.h"
#include "api/operator_objects.h"
#include "dcmi_interface_api.h"
#include "driver/ascend_hal.h"
#include "dsmi_common_interface.h"

namespace ropeway::api {

struct Aclnn {
  using Code = aclnnStatus;
  static aclnnStatus Of(aclError code) { return code == ACL_ERROR_INVALID_PARAM ? kNullPointer : code; }
};

struct Driver {
  using Code = drvError_t;
  static drvError_t Of(aclError code);
};

struct Dsmi {
  using Code = int;
  static int Of(aclError code) { return Driver::Of(code); }
};

struct Dcmi {
  using Code = int;
  static int Of(aclError code);
};

}  // namespace ropeway::api
