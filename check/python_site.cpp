#include "check/python_site.h"

#include <dlfcn.h>

#include <cstring>
#include <unordered_map>

#include "check/python_frame.h"

namespace ropeway::check {
namespace {

bool InPythonModule(uintptr_t caller) {
  thread_local std::unordered_map<uintptr_t, bool> known;
  const auto [at, added] = known.try_emplace(caller, false);
  Dl_info info{};
  if (added && dladdr(reinterpret_cast<void*>(caller - 1), &info) != 0 && info.dli_fname != nullptr)
    at->second = std::strstr(info.dli_fname, ".abi3.so") != nullptr || std::strstr(info.dli_fname, ".cpython-") != nullptr;
  return at->second;
}

}  // namespace

PythonSite FindPythonSite(uintptr_t caller) {
  if (!HasPython() || !InPythonModule(caller)) return {};
  const PythonLock lock;  // the module gave it away around the call
  const PythonFrame frame;
  if (!frame) return {};
  const std::string path = frame.Path();
  return {frame.code() * 31 + static_cast<uintptr_t>(frame.line()) + caller,
          path.substr(path.rfind('/') + 1) + ":" + std::to_string(frame.line())};
}

}  // namespace ropeway::check
