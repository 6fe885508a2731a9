// Many rules are about two devices, and a machine with one GPU has one. Several devices may share it, so that nothing here has to be left
// out; a number that the environment gives stays.

#include <cstdlib>

namespace {

// The library reads its settings in the first call, which is behind this.
[[maybe_unused]] const int kSeveralDevices = setenv("ROPEWAY_DEVICES", "8", /*overwrite=*/0);

}  // namespace
