// Many rules are about two devices, and a machine with one GPU has one. Several devices may share it, so that nothing here has to be left
// out; a number that the environment gives stays, unless it is one.

#include <cstdlib>
#include <cstring>

namespace {

int MakeSeveralDevices() {
  const char* const said = std::getenv("ROPEWAY_DEVICES");
  return setenv("ROPEWAY_DEVICES", "8", said != nullptr && std::strcmp(said, "1") == 0);
}

// The library reads its settings in the first call, which is behind this.
[[maybe_unused]] const int kSeveralDevices = MakeSeveralDevices();

}  // namespace
