#include "hccl/dispatcher/reduce_kernel.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/half.h"

namespace ropeway::comm {
namespace {

// How an element is computed with: as itself, or as a float.
template <typename Element>
struct Arithmetic {
  static Element Widen(Element element) { return element; }
  static Element Narrow(Element value) { return value; }
};
enum class Float16 : uint16_t {};
template <>
struct Arithmetic<Float16> {
  static float Widen(Float16 element) { return HalfToFloat(static_cast<uint16_t>(element)); }
  static Float16 Narrow(float value) { return Float16{FloatToHalf(value)}; }
};
enum class BFloat16 : uint16_t {};
template <>
struct Arithmetic<BFloat16> {
  static float Widen(BFloat16 element) { return BFloat16ToFloat(static_cast<uint16_t>(element)); }
  static BFloat16 Narrow(float value) { return BFloat16{FloatToBFloat16(value)}; }
};

// Sums and products of integers go through 64 unsigned bits, where wrapping is defined and the lower bits are the right ones.
struct Sum {
  template <typename Value>
  static Value Apply(Value a, Value b) {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
struct Product {
  template <typename Value>
  static Value Apply(Value a, Value b) {
    if constexpr (std::is_integral_v<Value>)
      return static_cast<Value>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};
template <bool kWantsGreater>
struct Extreme {
  template <typename Value>
  static Value Apply(Value a, Value b) {
    if constexpr (std::is_floating_point_v<Value>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) == kWantsGreater ? b : a;  // zeros of two signs, or no difference
    }
    return (a > b) == kWantsGreater ? a : b;
  }
};

template <typename Element, typename Op>
void Run(void* dst, const void* src, uint64_t count) {
  auto* to = static_cast<unsigned char*>(dst);
  const auto* from = static_cast<const unsigned char*>(src);
  for (uint64_t i = 0; i < count; ++i) {
    Element a, b;
    std::memcpy(&a, to + i * sizeof(Element), sizeof(Element));
    std::memcpy(&b, from + i * sizeof(Element), sizeof(Element));
    using Math = Arithmetic<Element>;
    const Element result = Math::Narrow(Op::Apply(Math::Widen(a), Math::Widen(b)));
    std::memcpy(to + i * sizeof(Element), &result, sizeof(Element));
  }
}

template <typename Element>
ReduceKernel KernelOf(HcclReduceOp op) {
  switch (op) {
    case HCCL_REDUCE_SUM: return Run<Element, Sum>;
    case HCCL_REDUCE_PROD: return Run<Element, Product>;
    case HCCL_REDUCE_MAX: return Run<Element, Extreme<true>>;
    case HCCL_REDUCE_MIN: return Run<Element, Extreme<false>>;
    default: return nullptr;
  }
}

}  // namespace

ReduceKernel FindReduceKernel(HcclDataType type, HcclReduceOp op) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return KernelOf<int8_t>(op);
    case HCCL_DATA_TYPE_INT16: return KernelOf<int16_t>(op);
    case HCCL_DATA_TYPE_INT32: return KernelOf<int32_t>(op);
    case HCCL_DATA_TYPE_INT64: return KernelOf<int64_t>(op);
    case HCCL_DATA_TYPE_UINT8: return KernelOf<uint8_t>(op);
    case HCCL_DATA_TYPE_UINT16: return KernelOf<uint16_t>(op);
    case HCCL_DATA_TYPE_UINT32: return KernelOf<uint32_t>(op);
    case HCCL_DATA_TYPE_UINT64: return KernelOf<uint64_t>(op);
    case HCCL_DATA_TYPE_FP16: return KernelOf<Float16>(op);
    case HCCL_DATA_TYPE_BFP16: return KernelOf<BFloat16>(op);
    case HCCL_DATA_TYPE_FP32: return KernelOf<float>(op);
    case HCCL_DATA_TYPE_FP64: return KernelOf<double>(op);
    default: return nullptr;
  }
}

}  // namespace ropeway::comm
