// What went wrong on this thread: the code that aclrtGetLastError returns and the texts that aclGetRecentErrMsg hands
// out. Texts are kept per thread, or per process when the init file asks for it (err_msg_mode "1").
#pragma once

#include "base/status.h"

namespace ropeway {

// Nothing here fails for want of memory: a text that there is no room for replaces the one before it that had none either.

// Files the failure's text with `call` in front. `caller`: where the call returns to.
void LogFailure(const char* call, const Status& status, const void* caller);

// Files a text that is complete already, for aclGetRecentErrMsg only.
void FileText(const char* text, const void* caller);

// Where the call of the newest text was made: at `caller`; or in the words of `site`, if the text has none and its call came from the
// module that `caller` is in.
void TellSite(const void* caller, const char* site);

int PeekLastError();
int TakeLastError();

// All texts of this thread (or process), newest first, and forgets them; without memory to join them, the newest. The pointer is good
// until the same thread calls again; null when there is nothing.
const char* TakeRecentTexts();

void ShareTextsAcrossThreads(bool shared);

}  // namespace ropeway
