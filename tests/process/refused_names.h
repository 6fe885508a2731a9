// Names from the table of refused functions (src/api/refused/table.inc), for tests that call whatever a library lets out.
#pragma once

#include <set>
#include <string>

namespace process_test {

// One answer for whatever is asked, and no text.
inline const std::set<std::string> kConstants = {
#define TEXT(name, text)
#define REFUSED(call, parameters, text, checks)
#define REFUSED_QUIETLY(call, parameters, text, checks)
#define REFUSED_WITH_NULL(type, call, parameters, text)
#define REFUSED_BY(library, call, parameters, text, checks)
#define CONSTANT(type, call, parameters, value) #call,
#include "src/api/refused/table.inc"
};

// Refused, and what they return is a null.
inline const std::set<std::string> kNulls = {
#define TEXT(name, text)
#define REFUSED(call, parameters, text, checks)
#define REFUSED_QUIETLY(call, parameters, text, checks)
#define REFUSED_WITH_NULL(type, call, parameters, text) #call,
#define REFUSED_BY(library, call, parameters, text, checks)
#define CONSTANT(type, call, parameters, value)
#include "src/api/refused/table.inc"
};

}  // namespace process_test
