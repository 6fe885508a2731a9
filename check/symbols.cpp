#include "check/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#ifdef ROPEWAY_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace ropeway::check {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return plain ? plain.get() : name;
}

#ifdef ROPEWAY_LIBDW
// The few functions that are needed, from a library that need not be there.
struct Dw {
  decltype(&dwfl_begin) begin = nullptr;
  decltype(&dwfl_end) end = nullptr;
  decltype(&dwfl_report_begin) report_begin = nullptr;
  decltype(&dwfl_report_end) report_end = nullptr;
  decltype(&dwfl_linux_proc_report) proc_report = nullptr;
  decltype(&dwfl_linux_proc_find_elf) find_elf = nullptr;
  decltype(&dwfl_standard_find_debuginfo) find_debuginfo = nullptr;
  decltype(&dwfl_getsrc) getsrc = nullptr;
  decltype(&dwfl_lineinfo) lineinfo = nullptr;
  bool loaded = false;

  Dw() {
    void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    loaded = Take(library, "dwfl_begin", &begin) && Take(library, "dwfl_end", &end) && Take(library, "dwfl_report_begin", &report_begin) &&
             Take(library, "dwfl_report_end", &report_end) && Take(library, "dwfl_linux_proc_report", &proc_report) &&
             Take(library, "dwfl_linux_proc_find_elf", &find_elf) && Take(library, "dwfl_standard_find_debuginfo", &find_debuginfo) &&
             Take(library, "dwfl_getsrc", &getsrc) && Take(library, "dwfl_lineinfo", &lineinfo);
  }

  template <typename Function>
  static bool Take(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

// Modules may come and go, so each question is asked of the process as it is.
void FindLine(uintptr_t address, Location* location) {
  static const auto* const dw = new Dw;
  if (!dw->loaded) return;
  char* debuginfo_path = nullptr;
  const Dwfl_Callbacks callbacks{dw->find_elf, dw->find_debuginfo, nullptr, &debuginfo_path};
  Dwfl* const session = dw->begin(&callbacks);
  if (session == nullptr) return;
  dw->report_begin(session);
  if (dw->proc_report(session, getpid()) == 0 && dw->report_end(session, nullptr, nullptr) == 0) {
    int line = 0;
    if (Dwfl_Line* const source = dw->getsrc(session, address))
      if (const char* const file = dw->lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr)) {
        location->file = file;
        location->line = line;
      }
  }
  dw->end(session);
}
#else
void FindLine(uintptr_t, Location*) {}
#endif

}  // namespace

std::string Location::Short() const {
  if (!file.empty()) return BaseName(file) + ":" + std::to_string(line);
  return function.empty() ? module : function + " (" + module + ")";
}

Location Locate(uintptr_t return_address) {
  Location location;
  const uintptr_t call = return_address - 1;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(call), &info) != 0 && info.dli_fname != nullptr) {
    location.module = BaseName(info.dli_fname);
    if (info.dli_sname != nullptr) location.function = Demangled(info.dli_sname);
  }
  FindLine(call, &location);
  if (location.function.empty() && location.file.empty() && !location.module.empty()) {
    char distance[32];
    std::snprintf(distance, sizeof distance, "+0x%zx", static_cast<size_t>(call - reinterpret_cast<uintptr_t>(info.dli_fbase)));
    location.module += distance;
  }
  return location;
}

}  // namespace ropeway::check
