// What a command says, for machines: objects of named texts, numbers and truths.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ropeway::cli {

using JsonValue = std::variant<std::string, double, uint64_t, bool>;
using JsonRow = std::vector<std::pair<std::string, JsonValue>>;

// One object: `facts`, and the rows as a list of this name.
void PrintJson(const JsonRow& facts, const std::string& list = "", const std::vector<JsonRow>& rows = {});

}  // namespace ropeway::cli
