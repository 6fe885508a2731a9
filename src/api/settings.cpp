// The table of settings for tools: `ropeway doctor` and `ropeway exec`, and the page of docs/.
#include "base/settings.h"

#include <cstdio>

#include "api/entry.h"
#include "ropeway/ropeway.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

void Describe(const Setting& row, bool stand_in, const char* value, ropewaySetting* setting) {
  *setting = {stand_in ? row.stand_in : row.variable,
              stand_in ? row.variable : nullptr,
              row.standard,
              row.meaning,
              row.page,
              row.library,
              row.values.placeholder,
              {},
              row.secret,
              value != nullptr && Usable(row, value)};
  snprintf(setting->wanted, sizeof(setting->wanted), "%s", Wanted(row).c_str());
}

}  // namespace
}  // namespace ropeway::api

aclError ropewayGetSetting(size_t index, const char* value, ropewaySetting* setting) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("setting", setting));
    *setting = {};
    size_t first = 0;
    for (const Setting& row : kSettings) {
      const size_t behind = first + (row.stand_in == nullptr ? 1 : 2);
      if (index >= first && index < behind) Describe(row, index != first, value, setting);
      first = behind;
    }
    return Ok();
  });
}
