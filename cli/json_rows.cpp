#include "cli/json_rows.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace ropeway::cli {
namespace {

nlohmann::ordered_json Object(const JsonRow& row) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row) std::visit([&, &key = name](const auto& one) { json[key] = one; }, value);
  return json;
}

}  // namespace

void PrintJson(const JsonRow& facts, const std::string& list, const std::vector<JsonRow>& rows) {
  nlohmann::ordered_json json = Object(facts);
  if (!list.empty()) json[list] = nlohmann::ordered_json::array();
  for (const JsonRow& row : rows) json[list].push_back(Object(row));
  // A file's name may be no UTF-8: better a mark in it than no answer.
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace ropeway::cli
