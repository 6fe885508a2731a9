// sscanf_s: the C library scans, one directive of the format after the other, so that the size behind an address can limit it.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "securec.h"

namespace {

constexpr size_t kLongestDirective = 300;  // every character in brackets, and what stands around them

// One "%..." of a format.
struct Directive {
  const char* begin;
  const char* width;  // where its digits are, or would be
  const char* type;   // behind the width: hh, ll, ..., and the letter
  const char* end;
  bool stored;
  char letter;

  bool is_text() const { return letter == 's' || letter == 'c' || letter == '['; }
};

// Where the brackets of %[...] end; a ] that comes first is one of the characters.
const char* EndOfBrackets(const char* at) {
  ++at;
  if (*at == '^') ++at;
  if (*at == ']') ++at;
  at += std::strcspn(at, "]");
  return *at == '\0' ? at : at + 1;
}

Directive Parse(const char* format) {
  Directive directive{};
  directive.begin = format;
  const char* at = format + 1;
  directive.stored = *at != '*';
  if (!directive.stored) ++at;
  directive.width = at;
  at += std::strspn(at, "0123456789");
  directive.type = at;
  at += std::strspn(at, "hljztLq");
  directive.letter = *at;
  directive.end = *at == '[' ? EndOfBrackets(at) : (*at == '\0' ? at : at + 1);
  return directive;
}

// What is scanned, how far it is, and what came of it.
struct Scan {
  const char* text;
  const char* at;
  int stored = 0;
};

enum class Outcome { kMatched, kMismatch, kInputEnds, kNoRoom };

// Lets the C library scan a directive with another width; 0 for none.
Outcome ScanOne(Scan* scan, const Directive& directive, size_t width, void* destination) {
  char format[kLongestDirective];
  char digits[24] = "";
  if (width != 0) snprintf(digits, sizeof(digits), "%zu", width);
  const int length = snprintf(format, sizeof(format), "%%%s%s%.*s%%n", directive.stored ? "" : "*", digits,
                              static_cast<int>(directive.end - directive.type), directive.type);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(format)) return Outcome::kNoRoom;
  int used = -1;
  const int found = directive.stored ? sscanf(scan->at, format, destination, &used) : sscanf(scan->at, format, &used);
  if (found == EOF) return Outcome::kInputEnds;
  if (used < 0) return Outcome::kMismatch;
  scan->at += used;
  scan->stored += directive.stored ? 1 : 0;
  return Outcome::kMatched;
}

// Text that is longer than its place is not cut off: there is no room for it.
Outcome ScanText(Scan* scan, const Directive& directive, size_t asked, char* place, size_t size) {
  const bool characters = directive.letter == 'c';
  if (place == nullptr || size == 0 || (characters && (asked == 0 ? 1 : asked) > size)) return Outcome::kNoRoom;
  if (characters) return ScanOne(scan, directive, asked, place);
  const bool limited = asked != 0 && asked < size;
  Directive dry = directive;
  dry.stored = false;
  Scan ahead = *scan;
  if (const Outcome outcome = ScanOne(&ahead, dry, asked, nullptr); outcome != Outcome::kMatched) {
    *place = '\0';
    return outcome;
  }
  const char* start = directive.letter == 's' ? scan->at + std::strspn(scan->at, " \t\n\v\f\r") : scan->at;
  if (!limited && static_cast<size_t>(ahead.at - start) >= size) {
    *place = '\0';
    return Outcome::kNoRoom;
  }
  return ScanOne(scan, directive, asked, place);
}

// %n, which is not counted.
void StorePlace(const Scan& scan, const Directive& directive, void* destination) {
  const auto place = static_cast<int>(scan.at - scan.text);
  const bool is_long = *directive.type == 'l' || *directive.type == 'j' || *directive.type == 'z' || *directive.type == 't';
  if (is_long) {
    *static_cast<long*>(destination) = place;
  } else {
    *static_cast<int*>(destination) = place;
  }
}

// Blanks match any number of blanks; other characters match themselves.
Outcome MatchLiteral(Scan* scan, char wanted) {
  const bool blank = std::isspace(static_cast<unsigned char>(wanted)) != 0;
  if (blank || wanted == '%') scan->at += std::strspn(scan->at, " \t\n\v\f\r");
  if (blank) return Outcome::kMatched;
  if (*scan->at == '\0') return Outcome::kInputEnds;
  if (*scan->at != wanted) return Outcome::kMismatch;
  ++scan->at;
  return Outcome::kMatched;
}

int Result(const Scan& scan, Outcome outcome) {
  if (outcome == Outcome::kNoRoom) return -1;
  return outcome == Outcome::kInputEnds && scan.stored == 0 ? EOF : scan.stored;
}

}  // namespace

int vsscanf_s(const char* buffer, const char* format, va_list argList) {
  if (buffer == nullptr || format == nullptr) return -1;
  va_list arguments;
  va_copy(arguments, argList);
  Scan scan{buffer, buffer};
  Outcome outcome = Outcome::kMatched;
  for (const char* at = format; *at != '\0' && outcome == Outcome::kMatched;) {
    if (*at != '%' || at[1] == '%') {
      outcome = MatchLiteral(&scan, *at);
      at += *at == '%' ? 2 : 1;
      continue;
    }
    const Directive directive = Parse(at);
    at = directive.end;
    const size_t width = std::strtoul(directive.width, nullptr, 10);
    void* destination = directive.stored ? va_arg(arguments, void*) : nullptr;
    if (directive.letter == 'n') {
      StorePlace(scan, directive, destination);
    } else if (directive.stored && directive.is_text()) {
      outcome = ScanText(&scan, directive, width, static_cast<char*>(destination), va_arg(arguments, size_t));
    } else {
      outcome = ScanOne(&scan, directive, width, destination);
    }
  }
  va_end(arguments);
  return Result(scan, outcome);
}

int sscanf_s(const char* buffer, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int stored = vsscanf_s(buffer, format, arguments);
  va_end(arguments);
  return stored;
}
