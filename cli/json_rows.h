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

struct JsonList {
  std::string name;
  std::vector<JsonRow> rows;
};

// One object: `facts`, and the lists.
void PrintJson(const JsonRow& facts, const std::vector<JsonList>& lists = {});
// The same into a file. Throws std::runtime_error when it cannot be written.
void WriteJsonFile(const std::string& path, const JsonRow& facts, const std::vector<JsonList>& lists = {});

}  // namespace ropeway::cli
