// The settings that a user can give: the library's table, for `exec`, which sets them by flags, and `doctor`, which tells what is in force.
#pragma once

#include <string>
#include <vector>

#include "ropeway/ropeway.h"

namespace ropeway::cli {

const std::vector<ropewaySetting>& Settings();

// The setting that `variable` names; null when there is none (a typing error, most likely).
const ropewaySetting* FindSetting(const std::string& variable);

bool Usable(const ropewaySetting& setting, const std::string& value);

// "--device-memory" for ROPEWAY_DEVICE_MEMORY; "" for the vendor's variables, and for secrets, which everybody could read in a list of
// processes.
std::string FlagOf(const ropewaySetting& setting);

}  // namespace ropeway::cli
