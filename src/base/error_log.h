// What went wrong on this thread: the code that aclrtGetLastError returns and the texts that aclGetRecentErrMsg hands
// out. Texts are kept per thread, or per process when the init file asks for it (err_msg_mode "1").
#pragma once

#include <string>

namespace ropeway {

// Puts `call` in front of the text that Fail/Reject/Decline left, and files it under `code`.
void LogFailure(const char* call, int code, bool sets_last_error);

// Files a text that is complete already, for aclGetRecentErrMsg only.
void FileText(std::string text);

// Replaces the text that waits for the next LogFailure; for failures whose text was written on another thread.
void SetPendingText(std::string text);
// The text that waits, taken.
std::string TakePendingText();

int PeekLastError();
int TakeLastError();

// All texts of this thread (or process), newest first, and forgets them. The pointer is good until the same thread calls
// again; null when there is nothing.
const char* TakeRecentTexts();

void ShareTextsAcrossThreads(bool shared);

}  // namespace ropeway
