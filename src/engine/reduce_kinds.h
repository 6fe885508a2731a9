// What reductions there are; of its own, because GPU code knows it, too.
#pragma once

#include <cstdint>

namespace ropeway {

enum class ReduceOp : uint8_t { kSum, kMax, kMin, kEqual };
enum class ReduceType : uint8_t { kFloat32, kFloat16, kBFloat16, kInt8, kInt16, kInt32, kUInt8, kUInt16, kUInt32, kInt4 };

}  // namespace ropeway
