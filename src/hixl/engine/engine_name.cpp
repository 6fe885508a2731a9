#include "hixl/engine/engine_name.h"

#include "base/parse.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {
namespace {

// Where the address ends, and whether it is in brackets. npos: it does not end.
size_t AddressEnd(const std::string& text, bool brackets) {
  if (brackets) return text.find(']');
  const size_t colon = text.find(':');
  return colon == std::string::npos ? text.size() : colon;
}

}  // namespace

Result<EngineName> ParseEngineName(const std::string& text) {
  const bool brackets = text.starts_with("[");
  const size_t end = AddressEnd(text, brackets);
  std::optional<comm::Address> address;
  std::string_view rest;
  if (end != std::string::npos) {
    address = comm::Address::Parse(text.substr(brackets ? 1 : 0, end - (brackets ? 1 : 0)), 0);
    rest = std::string_view(text).substr(end + (brackets ? 1 : 0));
  }
  std::optional<int> port = 0;
  if (!rest.empty()) port = rest[0] == ':' ? ParseNumber<int>(rest.substr(1)) : std::nullopt;
  if (!address || (address->family == 6) != brackets || !port || *port > UINT16_MAX)
    return Fail(kParamInvalid, "'%s' is no name of an engine: a numeric address is wanted, as 10.0.0.1, 10.0.0.1:16000 or [fd00::1]:16000",
                text.c_str());
  address->port = static_cast<uint16_t>(*port > 0 ? *port : 0);
  EngineName name{text, *address};
  return name;
}

}  // namespace ropeway::transfer
