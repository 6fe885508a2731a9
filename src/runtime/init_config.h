// The JSON file that aclInit may be given (rules/init.md 1). Unknown keys are ignored, and so are those for operators and
// dumps, which this library does not have.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/status.h"

namespace ropeway {

struct InitConfig {
  bool share_error_texts = false;  // err_msg_mode
  int default_device = -1;         // a user id, not yet looked up; -1 for none
  std::optional<size_t> simd_stack_size;
  std::optional<size_t> simd_printf_fifo_size;
  std::string profile_folder;  // profiler.output, where profiler.switch is on; else empty
};

// 100003: no such file, not a regular one, or larger than 10 MiB.
Status ReadInitFile(const char* path, std::string* text);

// 100006 not JSON or nested too deeply; 100000 bad err_msg_mode or event_mode; 500001 bad default device or size. An
// empty text is an empty configuration.
Status ParseInitConfig(const std::string& text, InitConfig* config);

}  // namespace ropeway
