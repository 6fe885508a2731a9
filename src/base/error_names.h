// Symbols and meanings of the public error numbers, for messages and tools.
#pragma once

namespace ropeway {

struct ErrorName {
  int code;
  const char* symbol;   // as in the public headers; 0 is ACL_SUCCESS
  const char* meaning;  // one phrase, without a full stop
};

// The entry of a public code, or nullptr for any other number. Entries live as long as the process; any thread may ask.
const ErrorName* FindErrorName(int code);

}  // namespace ropeway
