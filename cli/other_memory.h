// Memory of another process, read without its help: of one that runs, or through a debugger, which has stopped processes and core files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "src/base/symbols.h"

namespace ropeway::cli {

// Why there is nothing to be seen, as a line for the user.
struct CannotLook : std::runtime_error {
  CannotLook(int code, const std::string& why) : std::runtime_error(why), exit_code(code) {}
  const int exit_code;
};

class OtherMemory {
 public:
  virtual ~OtherMemory() = default;
  // All of it, or false.
  virtual bool Read(uint64_t address, void* to, size_t size) = 0;
  // "work (kv.cpp:91)", as far as it is known.
  virtual std::string NameOf(uint64_t code_address);

  template <typename T>
  std::optional<T> Get(uint64_t address) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!Read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  // Up to a null, and no longer than names are.
  std::string Text(uint64_t address);
};

// By process_vm_readv: the process is neither stopped nor told.
class RunningProcess final : public OtherMemory {
 public:
  // Throws CannotLook: not there, not ours, or over.
  explicit RunningProcess(int pid);

  bool Read(uint64_t address, void* to, size_t size) override;
  std::string NameOf(uint64_t code_address) override;

  // Where a name lies that one of its libraries exports; 0: none does.
  uint64_t FindExported(const std::string& name);
  std::string program() const;

 private:
  const int pid_;
  std::vector<symbols::Module> modules_;
};

// By somebody at the other end of two pipes, whom the debugger's script is: each question is a line "ADDRESS SIZE" on a descriptor, and
// each answer on standard input a byte 1 with what is there, or a byte 0.
class AskedMemory final : public OtherMemory {
 public:
  explicit AskedMemory(int questions) : questions_(questions) {}
  bool Read(uint64_t address, void* to, size_t size) override;

 private:
  const int questions_;
};

}  // namespace ropeway::cli
