// The call of the program that this thread is inside of: every entry of the API notes it, so that whoever watches can say where work and
// waits come from. Two stores a call.
#pragma once

#include <cstddef>
#include <string>

#include "base/hot_tls.h"

namespace ropeway {

struct CallSite {
  const void* caller = nullptr;  // where the call returns to; null on threads of our own
  const char* call = nullptr;
};

inline constinit thread_local CallSite t_call_site RW_HOT_TLS;

// A call of a library on top of ours that this thread is inside of: what it calls of ours is that call's doing. A null caller: none. A null
// call: ours keeps its name.
inline constinit thread_local CallSite t_outer_call RW_HOT_TLS;

// Who called, as far as the program is concerned.
inline const void* ProgramCaller(const void* caller) { return t_outer_call.caller != nullptr ? t_outer_call.caller : caller; }

// A caller that is no address but the number of a place in a program of another language, "/some/step.py:12": it has the topmost bit. Null
// when there are too many, or no memory. One place should be named once.
const void* NamePlace(const char* text);
// Its text, which stays; null for an address. Takes no lock.
const char* NameOfPlace(const void* caller);
size_t NamedPlaces();
const void* NamedPlaceAt(size_t index);

// "called at slow.cpp:8" where the caller has debug information and libdw is here, else "called from main+0x1f of prog"; empty for null and
// where nothing is known. It reads files: for texts that are handed to somebody, and for what is a bug of the program whenever it happens.
// Not for signal handlers.
std::string CallSiteText(const void* caller);

// The same in the middle of a text: " (called at slow.cpp:8)".
std::string CallerText(const void* caller);

bool InSameModule(const void* one, const void* other);

}  // namespace ropeway
