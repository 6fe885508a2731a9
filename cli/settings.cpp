#include "cli/settings.h"

#include <algorithm>
#include <cctype>

namespace ropeway::cli {

const std::vector<ropewaySetting>& Settings() {
  static const auto settings = [] {
    std::vector<ropewaySetting> all;
    for (ropewaySetting setting; ropewayGetSetting(all.size(), nullptr, &setting) == ACL_SUCCESS && setting.variable != nullptr;)
      all.push_back(setting);
    return all;
  }();
  return settings;
}

const ropewaySetting* FindSetting(const std::string& variable) {
  const auto found = std::find_if(Settings().begin(), Settings().end(), [&](const auto& setting) { return variable == setting.variable; });
  return found == Settings().end() ? nullptr : &*found;
}

bool Usable(const ropewaySetting& setting, const std::string& value) {
  ropewaySetting asked;
  return ropewayGetSetting(static_cast<size_t>(&setting - Settings().data()), value.c_str(), &asked) == ACL_SUCCESS && asked.usable != 0;
}

std::string FlagOf(const ropewaySetting& setting) {
  const std::string prefix = "ROPEWAY_";
  std::string name = setting.variable;
  if (name.compare(0, prefix.size(), prefix) != 0 || setting.secret != 0) return "";
  name.replace(0, prefix.size(), "--");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace ropeway::cli
