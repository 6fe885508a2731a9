#include "base/log.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "base/config.h"

namespace ropeway {
namespace {

constexpr const char* kLevelNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
constexpr int kLevels = 4;

// The text with blanks for line breaks, cut to what the buffer holds.
void CopyAsOneLine(const char* text, char* line, size_t size) {
  size_t length = 0;
  for (; text[length] != '\0' && length + 1 < size; ++length) {
    line[length] = text[length] == '\n' || text[length] == '\r' ? ' ' : text[length];
  }
  while (length > 0 && line[length - 1] == ' ') --length;
  line[length] = '\0';
}

}  // namespace

bool LogWanted(int level) { return level >= 0 && level < kLevels && level >= GetConfig().log_level; }

void WriteLog(int level, const char* text) {
  if (!LogWanted(level)) return;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char line[2048];
  CopyAsOneLine(text, line, sizeof(line));
  // One call, so that lines of several threads do not mix.
  FILE* out = GetConfig().log_to_stdout ? stdout : stderr;
  fprintf(out, "[%s] %d %lld.%03ld %s\n", kLevelNames[level], getpid(), static_cast<long long>(now.tv_sec), now.tv_nsec / 1000000, line);
  fflush(out);
}

}  // namespace ropeway
