// The log of the process: one line per message on stderr, or on stdout where ASCEND_SLOG_PRINT_TO_STDOUT asks for it.
#pragma once

namespace ropeway {

// Whether messages of this level (0 debug .. 3 error) are wanted. Asking first saves the formatting.
bool LogWanted(int level);

constexpr int kLogWarning = 2;

// Writes "[ERROR] 4711 1769860800.123 text" (pid, seconds since the epoch) as one line; line breaks inside the text become spaces.
void WriteLog(int level, const char* text);

}  // namespace ropeway
