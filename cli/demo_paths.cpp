// The memory of the demo, and how it is filled and looked at; see demo_paths.h.
#include "cli/demo_paths.h"

#include <cstring>

#include "cli/cold_pool.h"
#include "cli/gate.h"

namespace ropeway::cli {

void Push(const Area& area) {
  if (!area.mirrored) return;
  RW_ACL(aclrtMemcpy(area.address, area.size, area.bytes, area.size, ACL_MEMCPY_HOST_TO_DEVICE));
}

void Pull(const Area& area) {
  if (!area.mirrored) return;
  RW_ACL(aclrtMemcpy(area.bytes, area.size, area.address, area.size, ACL_MEMCPY_DEVICE_TO_HOST));
}

VisibleBlock::VisibleBlock(size_t size) : block_(size) {
  void* view = nullptr;
  const aclError code = ropewayHostView(block_.data(), size, &view);
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) Check(code, "ropewayHostView");
  if (view == nullptr) mirror_.resize(size);
  area_ = {block_.data(), view == nullptr ? mirror_.data() : static_cast<uint8_t*>(view), size, view == nullptr};
  std::memset(area_.bytes, 0, size);
  Push(area_);
}

DemoMemory::DemoMemory() {
  for (int i : {0, 1}) {
    for (const Area& area : {pinned(i), pageable(i)}) std::memset(area.bytes, 0, area.size);
  }
}

void Freshen(const Area& dst, const Area& src) {
  static uint64_t seed = 0;
  FillPattern(src.bytes, src.size, ++seed);
  std::memset(dst.bytes, kUntouched, dst.size);
  Push(src);
  Push(dst);
}

bool SameBytes(const Area& dst, const Area& src) {
  Pull(dst);
  return std::memcmp(dst.bytes, src.bytes, src.size) == 0;
}

// A run of one value equals itself shifted by one byte.
bool AllBytes(const Area& area, uint8_t value) {
  Pull(area);
  return area.size == 0 || (area.bytes[0] == value && std::memcmp(area.bytes, area.bytes + 1, area.size - 1) == 0);
}

DemoPath HeldBackPath(const char* name, const Stream& stream, Area dst, Area src, std::function<void()> submit) {
  auto check = [=, &stream] {
    Freshen(dst, src);
    Gate gate;
    gate.Close(stream);
    submit();
    const bool waited = AllBytes(dst, kUntouched);
    gate.Open();
    stream.Synchronize();
    return waited && SameBytes(dst, src);
  };
  auto run = [=, &stream] {
    submit();
    stream.Synchronize();
  };
  return {name, src.size, check, run, [=] { std::memcpy(dst.bytes, src.bytes, src.size); }, ""};
}

}  // namespace ropeway::cli
