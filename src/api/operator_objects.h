// What stands behind the containers of aclnn/acl_meta.h.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "aclnn/acl_meta.h"

struct aclTensor {
  using Dims = std::vector<int64_t>;
  Dims view_dims, strides, storage_dims;
  int64_t offset = 0;  // in elements
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  void* data = nullptr;
};

struct aclScalar {
  aclDataType type;
  alignas(16) std::array<unsigned char, 16> bytes;  // as many as the type has
};

struct aclIntArray {
  std::vector<int64_t> values;
};
struct aclFloatArray {
  std::vector<float> values;
};
struct aclBoolArray {
  std::unique_ptr<bool[]> values;
  uint64_t size;
};

// Lists own their members.
struct aclTensorList {
  std::vector<std::unique_ptr<const aclTensor>> members;
};
struct aclScalarList {
  std::vector<std::unique_ptr<const aclScalar>> members;
};

namespace ropeway::api {

constexpr int kNullPointer = 161001;   // of aclnnStatus
constexpr int kInvalidValue = 161002;  // of aclnnStatus

}  // namespace ropeway::api
