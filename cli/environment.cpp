// What the variables say; see environment.h.
#include "cli/environment.h"

#include <cstdlib>

#include "cli/settings.h"

namespace ropeway::cli {
namespace {

// The chip that programs are built for: what the user said, or the one that the library looks like.
std::string SocName() {
  for (const char* variable : {"SOC_VERSION", "ROPEWAY_SOC"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return value;
  }
  return FindSetting("ROPEWAY_SOC")->standard;
}

}  // namespace

std::vector<TreeVariable> TreeVariables(const Tree& tree) {
  const TreeVariable libraries = {"LD_LIBRARY_PATH", tree.library_folder, true};
  if (!tree.complete) return {libraries};
  return {
      // The names under which different clients look for the tree.
      {"ASCEND_HOME_PATH", tree.root},
      {"ASCEND_TOOLKIT_HOME", tree.root},
      {"ASCEND_INSTALL_PATH", tree.root},
      {"ASCEND_ROOT", tree.root},
      {"CANN_INSTALL_DIR", tree.root},
      {"ASCEND_OPP_PATH", tree.root + "/opp"},
      {"SOC_VERSION", SocName()},
      {"ASCENDC_CMAKE_DIR", tree.root + "/tikcpp/ascendc_kernel_cmake"},
      {"PATH", tree.root + "/bin", true},
      libraries,
      {"LIBRARY_PATH", tree.root + "/lib64", true},
      {"CPATH", tree.root + "/include", true},
      {"C_INCLUDE_PATH", tree.root + "/include", true},
      {"CPLUS_INCLUDE_PATH", tree.root + "/include", true},
      {"CMAKE_PREFIX_PATH", tree.root, true},
      {"PKG_CONFIG_PATH", tree.root + "/share/pkgconfig", true},
      {"CMAKE_LIBRARY_PATH", tree.root + "/lib64", true},
      {"PYTHONPATH", tree.root + "/python/site-packages", true},
  };
}

}  // namespace ropeway::cli
