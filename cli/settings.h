// The settings that a user can give, by environment variable or, most of them, by flag of `ropeway exec`: one table for
// `exec`, which sets them, and `doctor`, which tells what is in force. docs/config.md is the same table for people.
#pragma once

#include <span>
#include <string>

namespace ropeway::cli {

struct Setting {
  const char* flag;      // "--devices"; null: by variable only
  const char* variable;  // "ROPEWAY_DEVICES"
  const char* value;     // what to write for a value in help texts, "N"; null for a switch
  const char* standard;  // what holds without it
  const char* meaning;
  // What is wanted in place of a value that the library ignores; empty when it does not. An empty value means that the
  // variable is set to nothing.
  std::string (*problem)(const std::string& value);
  bool secret = false;  // not to be printed
};

std::span<const Setting> Settings();

// The setting that `variable` names; null when there is none (a typing error, most likely).
const Setting* FindSetting(const std::string& variable);

}  // namespace ropeway::cli
