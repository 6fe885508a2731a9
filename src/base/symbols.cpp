#include "base/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#ifdef ROPEWAY_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace ropeway::symbols {
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
  decltype(&dwfl_report_elf) report_elf = nullptr;
  decltype(&dwfl_addrmodule) addrmodule = nullptr;
  decltype(&dwfl_module_addrname) addrname = nullptr;
  decltype(&dwfl_getsrc) getsrc = nullptr;
  decltype(&dwfl_lineinfo) lineinfo = nullptr;
  decltype(&dwfl_module_nextcu) nextcu = nullptr;
  decltype(&dwarf_haspc) haspc = nullptr;
  decltype(&dwarf_getsrc_die) getsrc_die = nullptr;
  decltype(&dwarf_linesrc) linesrc = nullptr;
  decltype(&dwarf_lineno) lineno = nullptr;
  bool loaded = false;

  Dw() {
    void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    loaded = Take(library, "dwfl_begin", &begin) && Take(library, "dwfl_end", &end) && Take(library, "dwfl_report_begin", &report_begin) &&
             Take(library, "dwfl_report_end", &report_end) && Take(library, "dwfl_linux_proc_report", &proc_report) &&
             Take(library, "dwfl_linux_proc_find_elf", &find_elf) && Take(library, "dwfl_standard_find_debuginfo", &find_debuginfo) &&
             Take(library, "dwfl_report_elf", &report_elf) && Take(library, "dwfl_addrmodule", &addrmodule) &&
             Take(library, "dwfl_module_addrname", &addrname) && Take(library, "dwfl_getsrc", &getsrc) &&
             Take(library, "dwfl_lineinfo", &lineinfo) && Take(library, "dwfl_module_nextcu", &nextcu) &&
             Take(library, "dwarf_haspc", &haspc) && Take(library, "dwarf_getsrc_die", &getsrc_die) &&
             Take(library, "dwarf_linesrc", &linesrc) && Take(library, "dwarf_lineno", &lineno);
  }

  template <typename Function>
  static bool Take(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

// Null: it is not there.
const Dw* TheDw() {
  static const auto* const dw = new Dw;
  return dw->loaded ? dw : nullptr;
}

Dwfl* Begin(const Dw& dw, const Dwfl_Callbacks& callbacks) {
  Dwfl* const session = dw.begin(&callbacks);
  if (session != nullptr) dw.report_begin(session);
  return session;
}

Dwfl* Begin(const Dw& dw) {
  static char* debuginfo_path = nullptr;
  static const Dwfl_Callbacks callbacks{dw.find_elf, dw.find_debuginfo, nullptr, &debuginfo_path};
  return Begin(dw, callbacks);
}

// clang writes no table of the addresses that each unit has, which is the only way that libdw looks: ask the units one by one.
const char* LineByUnit(const Dw& dw, Dwfl* session, uintptr_t address, int* line) {
  Dwfl_Module* const module = dw.addrmodule(session, address);
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* unit = nullptr; module != nullptr && (unit = dw.nextcu(module, unit, &bias)) != nullptr;) {
    if (dw.haspc(unit, address - bias) != 1) continue;
    Dwarf_Line* const source = dw.getsrc_die(unit, address - bias);
    if (source == nullptr || dw.lineno(source, line) != 0) continue;
    return dw.linesrc(source, nullptr, nullptr);
  }
  return nullptr;
}

void FindLine(const Dw& dw, Dwfl* session, uintptr_t address, Location* location) {
  int line = 0;
  Dwfl_Line* const source = dw.getsrc(session, address);
  const char* const file =
      source == nullptr ? LineByUnit(dw, session, address, &line) : dw.lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr);
  if (file == nullptr) return;
  location->file = file;
  location->line = line;
}

// Modules may come and go, so each question is asked of the process as it is.
void FindLine(uintptr_t address, Location* location) {
  const Dw* const dw = TheDw();
  Dwfl* const session = dw == nullptr ? nullptr : Begin(*dw);
  if (session == nullptr) return;
  if (dw->proc_report(session, getpid()) == 0 && dw->report_end(session, nullptr, nullptr) == 0) FindLine(*dw, session, address, location);
  dw->end(session);
}

Dwfl* Open(const std::vector<Module>& modules) {
  const Dw* const dw = TheDw();
  Dwfl* const session = dw == nullptr ? nullptr : Begin(*dw);
  if (session == nullptr) return nullptr;
  for (const Module& module : modules) {
    if (access(module.path.c_str(), R_OK) == 0) dw->report_elf(session, module.path.c_str(), module.path.c_str(), -1, module.bias, true);
  }
  dw->report_end(session, nullptr, nullptr);
  return session;
}

void Close(Dwfl* session) {
  if (session != nullptr) TheDw()->end(session);
}

void FindIn(Dwfl* session, uintptr_t address, Location* location) {
  if (session == nullptr) return;
  const Dw& dw = *TheDw();
  Dwfl_Module* const module = dw.addrmodule(session, address);
  const char* const name = module == nullptr ? nullptr : dw.addrname(module, address);
  if (name != nullptr) location->function = Demangled(name);
  FindLine(dw, session, address, location);
}

int NoSeparateFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) { return -1; }

// libdw has no way out when it runs out of memory, so it is not begun where memory is short. What it needs is a few times what it reads,
// and it maps the file as well.
bool HasMemoryFor(const char* path) {
  struct stat file {};
  if (stat(path, &file) != 0) return false;
  const size_t wanted = (size_t{16} << 20) + 4 * static_cast<size_t>(file.st_size);
  void* const probe = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe != MAP_FAILED) munmap(probe, wanted);
  return probe != MAP_FAILED;
}

// What is known of one module: reading its debug information takes long, and who reads error texts reads more than one.
struct KnownModule {
  std::string path;
  uintptr_t bias;
  std::unique_ptr<Dwfl, decltype(&dwfl_end)> session;
};
// The last one that was asked for, or null. Who looks takes it away meanwhile: libdw wants to be asked by one thread at a time.
std::atomic<KnownModule*> g_known{nullptr};

std::unique_ptr<KnownModule> Know(const Dw& dw, const char* path, uintptr_t bias) {
  std::unique_ptr<KnownModule> known(g_known.exchange(nullptr));
  if (known && known->bias == bias && known->path == path) return known;
  static const Dwfl_Callbacks callbacks{nullptr, &NoSeparateFile, nullptr, nullptr};
  known.reset(new KnownModule{path, bias, {nullptr, dw.end}});
  known->session.reset(Begin(dw, callbacks));
  Dwfl* const session = known->session.get();
  if (session == nullptr || dw.report_elf(session, path, path, -1, bias, true) == nullptr || dw.report_end(session, nullptr, nullptr) != 0)
    return nullptr;
  return known;
}

std::string LineIn(const char* path, uintptr_t bias, uintptr_t address) {
  const Dw* const dw = HasMemoryFor(path) ? TheDw() : nullptr;
  if (dw == nullptr) return "";
  std::unique_ptr<KnownModule> known = Know(*dw, path, bias);
  if (!known) return "";
  Location location;
  FindLine(*dw, known->session.get(), address, &location);
  const std::unique_ptr<KnownModule> other(g_known.exchange(known.release()));
  return location.file.empty() ? "" : location.Short();
}
#else
std::string LineIn(const char*, uintptr_t, uintptr_t) { return ""; }
void FindLine(uintptr_t, Location*) {}
Dwfl* Open(const std::vector<Module>&) { return nullptr; }
void Close(Dwfl*) {}
void FindIn(Dwfl*, uintptr_t, Location*) {}
#endif

void AddDistance(uintptr_t distance, Location* location) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<size_t>(distance));
  location->module += text;
}

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
  if (location.function.empty() && location.file.empty() && !location.module.empty())
    AddDistance(call - reinterpret_cast<uintptr_t>(info.dli_fbase), &location);
  return location;
}

std::string LineOf(uintptr_t return_address) noexcept try {
  Dl_info info{};
  link_map* module = nullptr;
  const uintptr_t call = return_address - 1;
  if (dladdr1(reinterpret_cast<void*>(call), &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0 || module == nullptr)
    return "";
  const bool is_program = module->l_name == nullptr || *module->l_name == '\0';
  return LineIn(is_program ? "/proc/self/exe" : module->l_name, module->l_addr, call);
} catch (const std::bad_alloc&) {
  return "";
}

Modules::Modules(const std::vector<Module>& modules) : modules_(modules), session_(Open(modules_)) {}

Modules::~Modules() { Close(session_); }

Location Modules::Locate(uintptr_t return_address) const {
  Location location;
  const uintptr_t call = return_address - 1;
  const auto module =
      std::find_if(modules_.begin(), modules_.end(), [&](const Module& one) { return call >= one.begin && call < one.end; });
  if (module == modules_.end()) return location;
  location.module = BaseName(module->path);
  FindIn(session_, call, &location);
  if (location.function.empty() && location.file.empty()) AddDistance(call - module->bias, &location);
  return location;
}

}  // namespace ropeway::symbols
