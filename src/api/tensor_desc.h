// What stands behind aclTensorDesc.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "acl/acl_base.h"

struct aclTensorDesc {
  using Dims = std::vector<int64_t>;
  using Ranges = std::vector<std::array<int64_t, 2>>;

  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Dims dims;
  std::string name;
  Ranges shape_range;
  // For whoever executes operators: no getter of the API shows them.
  aclFormat storage_format = ACL_FORMAT_UNDEFINED, origin_format = ACL_FORMAT_UNDEFINED;
  Dims storage_dims, origin_dims;
  Ranges value_range;
  std::string dynamic_input;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  void* constant = nullptr;
  size_t constant_length = 0;
};
