#include "base/error_text.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace ropeway {

void ComposeErrorText(const ErrorFamily& family, const char* call, const Status& status, char (&text)[kErrorTextSize]) {
  // Seconds since the epoch, not a calendar date: libc's time zone lock may have been left behind by a fork.
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const char* what = status.text();
  snprintf(text, sizeof(text), "%s: [PID: %d] %lld.%03ld %s (%d)\n        %.200s: %.1023s\n", family.id, getpid(),
           static_cast<long long>(now.tv_sec), now.tv_nsec / 1000000, family.symbol, status.code(), call,
           *what == '\0' ? family.meaning : what);
}

}  // namespace ropeway
