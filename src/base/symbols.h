// Where an address of the program is, in words: file and line from its debug information (libdw, loaded when the first report is
// written), the function otherwise, the module and the distance in it at least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct Dwfl;

namespace ropeway::symbols {

struct Location {
  std::string function;
  std::string file;  // as the compiler was given it; empty without debug information
  int line = 0;
  std::string module;

  std::string Short() const;  // kv.cpp:91, or function+module
};

// Of a return address: the call is in front of it.
Location Locate(uintptr_t return_address);

// "kv.cpp:91", by the debug information in the module itself, and by nothing else: this is for error texts, where neither other modules are
// read nor files elsewhere, let alone over a network. Empty where it is not known, there is no memory for it, or libdw is not here.
std::string LineOf(uintptr_t return_address) noexcept;

// The same for a process that is no more, by the files that it had in memory.
struct Module {
  std::string path;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  uintptr_t bias = 0;  // from addresses in the file to those in memory
};

class Modules {
 public:
  explicit Modules(const std::vector<Module>& modules);
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  Location Locate(uintptr_t return_address) const;

 private:
  const std::vector<Module> modules_;
  Dwfl* session_ = nullptr;  // of libdw; null without it
};

}  // namespace ropeway::symbols
