// The memory of the demo, and how it is filled and looked at; see demo_paths.h.
#include "cli/demo_paths.h"

#include <cstring>

#include "bench/cold_pool.h"
#include "cli/gate.h"

namespace ropeway::cli {

DemoMemory::DemoMemory() {
  for (int i : {0, 1}) {
    for (const Area& area : {pinned(i), device(i), pageable(i)}) std::memset(area.bytes, 0, area.size);
  }
}

void Freshen(const Area& dst, const Area& src) {
  static uint64_t seed = 0;
  bench::FillPattern(src.bytes, src.size, ++seed);
  std::memset(dst.bytes, kUntouched, dst.size);
}

bool SameBytes(const Area& dst, const Area& src) { return std::memcmp(dst.bytes, src.bytes, src.size) == 0; }

// A run of one value equals itself shifted by one byte.
bool AllBytes(const Area& area, uint8_t value) {
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
