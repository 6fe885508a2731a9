// What the two classes of the interface have in common: from their types to the engine's, and back.
#pragma once

#include <string>
#include <vector>

#include "graph/ascend_string.h"
#include "hixl/engine/face.h"

namespace ropeway::transfer {

// Up to the first NUL.
inline std::string TextOf(const ge::AscendString& text) { return text.GetString(); }

// The descriptors of both classes are laid out alike.
template <typename Descriptor>
Descriptors DescriptorsOf(const std::vector<Descriptor>& descriptors) {
  static_assert(sizeof(Descriptor) == sizeof(::hixl::TransferOpDesc));
  return {reinterpret_cast<const ::hixl::TransferOpDesc*>(descriptors.data()), descriptors.size()};
}

template <typename Notify>
void HandOut(const Texts& taken, const Dialect& dialect, std::vector<Notify>* notifies) {
  if (!dialect.appends_notifies) notifies->clear();
  for (const auto& [name, message] : taken) notifies->push_back({ge::AscendString(name.c_str()), ge::AscendString(message.c_str())});
}

// What a library of these names can do: both features, and nothing that comes later.
inline uint32_t Capability(int32_t feature, int32_t* value) {
  constexpr int32_t kFeatures = 2;
  if (feature < 0) return ::hixl::PARAM_INVALID;
  *value = feature < kFeatures ? ::hixl::FEATURE_SUPPORTED : ::hixl::FEATURE_NOT_SUPPORTED;
  return ::hixl::SUCCESS;
}

}  // namespace ropeway::transfer
