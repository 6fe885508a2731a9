// What the link sets in UCX's configuration. Whatever the user says in UCX_* variables wins.
#pragma once

#include <string>
#include <vector>

namespace ropeway::comm {

// One setting. UCX knows it by the name of the variable without "UCX_" and, when it is a transport's, without its prefix either:
// that is how ucp_config_modify passes it on.
struct UcxSetting {
  const char* variable;
  const char* name;
  std::string value;
};
// Those that the user has not made.
std::vector<UcxSetting> UcxSettings(const std::string& local_ip);

}  // namespace ropeway::comm
