#include "hccl/bootstrap/rank_table.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

namespace ropeway::comm {
namespace {

using nlohmann::json;

constexpr uint16_t kDefaultPort = 16666;
constexpr size_t kLongestServerId = 64;

// Thrown inside this file only.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const json& Need(const json& object, const char* key, json::value_t type, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw Wrong(where + " has no " + key);
  if (found->type() != type) throw Wrong(where + "." + key + " is not " + json(type).type_name());
  return *found;
}

std::string Text(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw Wrong(where + " has no " + key);
  if (!found->is_string()) throw Wrong(where + "." + key + " is not a string: write numbers in quotes, too");
  return *found;
}

std::optional<std::string> TextIfAny(const json& object, const char* key, const std::string& where) {
  return object.contains(key) ? std::optional(Text(object, key, where)) : std::nullopt;
}

uint32_t Number(const std::string& text, uint32_t least, uint32_t most, const std::string& where) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    throw Wrong(where + " \"" + text + "\" is not a number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

// A rank meets the others at the device's address, or at the server's where the table gives one (version 1.2).
Address AddressOf(const json& device, const json& server, const std::string& where) {
  const std::string port = TextIfAny(device, "device_port", where).value_or(std::to_string(kDefaultPort));
  const auto number = static_cast<uint16_t>(Number(port, 1, 65535, where + ".device_port"));
  std::optional<std::string> ip = TextIfAny(server, "host_ip", where);
  if (!ip || ip->empty()) ip = TextIfAny(device, "device_ip", where);
  if (!ip || ip->empty()) return {};
  const std::optional<Address> address = Address::Parse(*ip, number);
  if (!address) throw Wrong(where + ": \"" + *ip + "\" is neither an IPv4 nor an IPv6 address");
  return *address;
}

void TakeServer(const json& server, const std::string& where, std::map<uint32_t, RankTable::Rank>& ranks) {
  const std::string id = Text(server, "server_id", where);
  if (id.empty() || id.size() > kLongestServerId) throw Wrong(where + ".server_id must have 1 to 64 characters");
  const json& devices = Need(server, "device", json::value_t::array, where);
  uint32_t lowest = UINT32_MAX, highest = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string here = where + ".device[" + std::to_string(i) + "]";
    if (!devices[i].is_object()) throw Wrong(here + " is not an object");
    const uint32_t rank = Number(Text(devices[i], "rank_id", here), 0, 1u << 20, here + ".rank_id");
    RankTable::Rank entry;
    entry.server = id;
    entry.device = static_cast<int32_t>(Number(Text(devices[i], "device_id", here), 0, 1u << 16, here + ".device_id"));
    entry.address = AddressOf(devices[i], server, here);
    if (!ranks.emplace(rank, entry).second) throw Wrong(here + ".rank_id " + std::to_string(rank) + " is there twice");
    lowest = std::min(lowest, rank);
    highest = std::max(highest, rank);
  }
  if (!devices.empty() && highest - lowest + 1 != devices.size()) throw Wrong(where + ": the ranks of a server must follow each other");
}

void CheckAddresses(const RankTable& table) {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank) {
    if (!table.one_server && !table.ranks[rank].address.valid())
      throw Wrong("rank " + std::to_string(rank) + " has no device_ip, which tables with several servers need");
  }
}

void Take(const json& root, RankTable* table) {
  const std::string whole = "the table";
  if (!root.is_object()) throw Wrong("the table is not a JSON object");
  const std::string status = Text(root, "status", whole);
  if (status != "completed") throw Wrong("status is \"" + status + "\", not \"completed\": the table is not finished");
  const std::string version = Text(root, "version", whole);
  if (version != "1.0" && version != "1.2") throw Wrong("version is \"" + version + "\"; known are \"1.0\" and \"1.2\"");
  const json& servers = Need(root, "server_list", json::value_t::array, whole);
  const std::string count = Text(root, "server_count", whole);
  if (Number(count, 1, 1u << 20, "server_count") != servers.size())
    throw Wrong("server_count is " + count + ", server_list has " + std::to_string(servers.size()));
  std::map<uint32_t, RankTable::Rank> ranks;
  std::set<std::string> ids;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::string where = "server_list[" + std::to_string(i) + "]";
    if (!servers[i].is_object()) throw Wrong(where + " is not an object");
    TakeServer(servers[i], where, ranks);
    if (!ids.insert(Text(servers[i], "server_id", where)).second) throw Wrong(where + ".server_id is there twice");
  }
  if (ranks.empty() || ranks.rbegin()->first + 1 != ranks.size())
    throw Wrong("the rank_ids do not run from 0 to " + std::to_string(ranks.size()) + " - 1 without a gap");
  for (const auto& [rank, entry] : ranks) table->ranks.push_back(entry);
  table->one_server = servers.size() == 1;
  CheckAddresses(*table);
}

}  // namespace

std::string ParseRankTable(const std::string& text, RankTable* table) {
  *table = {};
  try {
    Take(json::parse(text), table);
  } catch (const json::exception& error) {
    return error.what();
  } catch (const Wrong& error) {
    return error.what();
  }
  return "";
}

}  // namespace ropeway::comm
