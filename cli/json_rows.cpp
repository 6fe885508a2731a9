#include "cli/json_rows.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ropeway::cli {
namespace {

nlohmann::ordered_json Object(const JsonRow& row) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row) std::visit([&, &key = name](const auto& one) { json[key] = one; }, value);
  return json;
}

// A file's name may be no UTF-8: better a mark in it than no answer.
std::string Text(const JsonRow& facts, const std::vector<JsonList>& lists) {
  nlohmann::ordered_json json = Object(facts);
  for (const JsonList& list : lists) {
    nlohmann::ordered_json& rows = json[list.name] = nlohmann::ordered_json::array();
    for (const JsonRow& row : list.rows) rows.push_back(Object(row));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void PrintJson(const JsonRow& facts, const std::vector<JsonList>& lists) { std::printf("%s\n", Text(facts, lists).c_str()); }

void WriteJsonFile(const std::string& path, const JsonRow& facts, const std::vector<JsonList>& lists) {
  std::ofstream file(path);
  file << Text(facts, lists) << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace ropeway::cli
