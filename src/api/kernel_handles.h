// Binaries, the functions in them and lists of arguments, as programs hold them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/entry.h"
#include "api/stand_ins.h"
#include "base/slab.h"

namespace ropeway::api {

// A list of arguments. Plain data: it may lie in memory of the program (aclrtKernelArgsInitByUserMem).
struct KernelArgs {
  static constexpr uint32_t kMostParameters = 64;
  struct Parameter {
    unsigned char* data;  // of a placeholder, when it has some
    uint32_t offset, size;
    uint32_t data_size;
    bool placeholder;
  };

  void* function;
  unsigned char* bytes;
  size_t used, room;  // parameters lie at the front, data of placeholders at the back of them
  bool owned;         // else the memory is the program's
  bool closed;        // by aclrtKernelArgsFinalize
  uint32_t count;
  Parameter parameters[kMostParameters];
};

// What aclrtCreateBinary describes: bytes of the program's.
struct BinaryImage final : SlabObject {
  const void* data = nullptr;
  size_t size = 0;
  void Recycle() {}
};
using BinaryImageSlab = Slab<BinaryImage, 0x24>;

// A loaded binary: the functions that were asked for. Guarded by StandIns::mutex.
struct Binary final : SlabObject {
  std::map<std::string, void*> functions;
  void Recycle() { functions.clear(); }
};
using BinarySlab = Slab<Binary, 0x25>;

struct Function final : SlabObject {
  const char* name = nullptr;  // stays for as long as the process
  void* binary = nullptr;
  std::vector<std::unique_ptr<unsigned char[]>> memory;  // of aclrtKernelArgsInit and placeholders; guarded by StandIns::mutex
  void Recycle() { memory.clear(); }
};
using FunctionSlab = Slab<Function, 0x26>;
FunctionSlab& Functions();
using FunctionHold = SlabRef<FunctionSlab, Function>;

// 100000 for null, 107017 for what is not a function of a loaded binary.
Result<FunctionHold> HoldFunction(const void* handle);

}  // namespace ropeway::api
