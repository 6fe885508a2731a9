// The version.info files of an install tree, and what their texts mean (rules/init.md 5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "acl/acl_rt.h"

namespace ropeway::api {

// The text behind "Version=" of a package: $ASCEND_HOME_PATH/share/info/PACKAGE/version.info, also with '-' and '_'
// swapped; "driver" and "firmware" where /etc/ascend_install.info says. Nothing when there is no such file or line.
std::optional<std::string> FindPackageVersion(const std::string& package);

// "8.5.1-alpha.002" becomes 8, 5, 1, alpha002. False when there are fewer than two components.
bool SplitPackageVersion(const std::string& text, aclCANNPackageVersion* version);

// "8.5.1" becomes 80501000; alpha, beta and rc lie a little below. Nothing when the text has another form.
std::optional<int32_t> PackageVersionNumber(const std::string& text);

}  // namespace ropeway::api
