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

constexpr size_t kLongestServerId = 64;
constexpr uint32_t kLastDevice = 31;
constexpr uint32_t kLastRank = 1u << 20;

const std::string kWhole = "the table";
using Ranks = std::map<uint32_t, RankTable::Rank>;

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

// The first of the addresses that stand there with commas between them. All have to be addresses.
Address FirstAddress(const std::string& list, uint16_t port, const std::string& where) {
  Address first;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    const std::optional<Address> address = Address::Parse(word, port);
    if (!address) throw Wrong(where + ": \"" + word + "\" is neither an IPv4 nor an IPv6 address");
    if (!first.valid()) first = *address;
    at = end + 1;
  }
  return first;
}

// A rank meets the others at the device's address, or at the server's where the table gives one (version 1.2).
Address AddressOf(const json& device, const json& server, const std::string& where) {
  const std::string port = TextIfAny(device, "device_port", where).value_or(std::to_string(kDefaultDevicePort));
  const auto number = static_cast<uint16_t>(Number(port, 1, 65535, where + ".device_port"));
  std::optional<std::string> ip = TextIfAny(server, "host_ip", where);
  if (!ip || ip->empty()) ip = TextIfAny(device, "device_ip", where);
  return !ip || ip->empty() ? Address() : FirstAddress(*ip, number, where);
}

void TakeServer(const json& server, const std::string& where, Ranks& ranks) {
  const std::string id = Text(server, "server_id", where);
  if (id.empty() || id.size() > kLongestServerId) throw Wrong(where + ".server_id must have 1 to 64 characters");
  const json& devices = Need(server, "device", json::value_t::array, where);
  uint32_t lowest = UINT32_MAX, highest = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string here = where + ".device[" + std::to_string(i) + "]";
    if (!devices[i].is_object()) throw Wrong(here + " is not an object");
    const uint32_t rank = Number(Text(devices[i], "rank_id", here), 0, kLastRank, here + ".rank_id");
    RankTable::Rank entry;
    entry.server = id;
    entry.device = static_cast<int32_t>(Number(Text(devices[i], "device_id", here), 0, kLastDevice, here + ".device_id"));
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
      throw Wrong("rank " + std::to_string(rank) + " has no address (device_ip), which tables with several servers need");
  }
}

void RequireCount(const std::optional<std::string>& count, const char* name, const json& list, const char* list_name) {
  if (count && Number(*count, 1, kLastRank, name) != list.size())
    throw Wrong(std::string(name) + " is " + *count + ", " + list_name + " has " + std::to_string(list.size()));
}

// --- Versions 1.0 and 1.2: servers and their devices -----------------------------------------------------------------------

void TakeServers(const json& root, Ranks& ranks) {
  const json& servers = Need(root, "server_list", json::value_t::array, kWhole);
  RequireCount(TextIfAny(root, "server_count", kWhole), "server_count", servers, "server_list");
  std::set<std::string> ids;
  for (size_t i = 0; i < servers.size(); ++i) {
    const std::string where = "server_list[" + std::to_string(i) + "]";
    if (!servers[i].is_object()) throw Wrong(where + " is not an object");
    TakeServer(servers[i], where, ranks);
    if (!ids.insert(Text(servers[i], "server_id", where)).second) throw Wrong(where + ".server_id is there twice");
  }
}

// --- Version 2.0: ranks and the networks that each is in -------------------------------------------------------------------

// Numbers stand there with quotes or without.
std::string TextOrNumber(const json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_number_unsigned()) return std::to_string(found->get<uint64_t>());
  return Text(object, key, where);
}

bool IsIp(const json& address) {
  const auto type = address.find("addr_type");
  return address.is_object() && type != address.end() && (*type == "IPV4" || *type == "IPV6");
}

// The first address of a network that is an IP address.
Address IpOf(const json& levels, uint16_t port, const std::string& where) {
  for (const json& level : levels) {
    const auto list = level.find("rank_addr_list");
    if (list == level.end() || !list->is_array()) continue;
    const auto found = std::find_if(list->begin(), list->end(), &IsIp);
    if (found != list->end()) return FirstAddress(Text(*found, "addr", where), port, where);
  }
  return {};
}

// Ranks in one network of the innermost layer are in one server.
std::string InnermostNetwork(const json& levels, const std::string& where) {
  for (const json& level : levels) {
    if (!level.is_object()) throw Wrong(where + ".level_list has what is not an object");
    if (TextOrNumber(level, "net_layer", where) == "0") return Text(level, "net_instance_id", where);
  }
  throw Wrong(where + ".level_list has no net_layer 0");
}

void TakeRankList(const json& root, Ranks& ranks) {
  const json& list = Need(root, "rank_list", json::value_t::array, kWhole);
  const bool counted = root.contains("rank_count");
  RequireCount(counted ? std::optional(TextOrNumber(root, "rank_count", kWhole)) : std::nullopt, "rank_count", list, "rank_list");
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = "rank_list[" + std::to_string(i) + "]";
    if (!list[i].is_object()) throw Wrong(where + " is not an object");
    const uint32_t rank = Number(TextOrNumber(list[i], "rank_id", where), 0, kLastRank, where + ".rank_id");
    const std::string port =
        list[i].contains("device_port") ? TextOrNumber(list[i], "device_port", where) : std::to_string(kDefaultDevicePort);
    const json& levels = Need(list[i], "level_list", json::value_t::array, where);
    RankTable::Rank entry;
    entry.server = InnermostNetwork(levels, where);
    entry.device = static_cast<int32_t>(Number(TextOrNumber(list[i], "device_id", where), 0, kLastDevice, where + ".device_id"));
    entry.address = IpOf(levels, static_cast<uint16_t>(Number(port, 1, 65535, where + ".device_port")), where);
    if (!ranks.emplace(rank, entry).second) throw Wrong(where + ".rank_id " + std::to_string(rank) + " is there twice");
  }
}

// ---------------------------------------------------------------------------------------------------------------------------

bool IsOneServer(const RankTable& table) {
  return std::all_of(table.ranks.begin(), table.ranks.end(),
                     [&](const RankTable::Rank& rank) { return rank.server == table.ranks[0].server; });
}

void Take(const json& root, RankTable* table) {
  if (!root.is_object()) throw Wrong("the table is not a JSON object");
  const std::string version = Text(root, "version", kWhole);
  const bool by_rank = version == "2.0";
  if (!by_rank && version != "1.0" && version != "1.2")
    throw Wrong("version is \"" + version + "\"; known are \"1.0\", \"1.2\" and \"2.0\"");
  const std::string status = by_rank ? TextIfAny(root, "status", kWhole).value_or("completed") : Text(root, "status", kWhole);
  if (status != "completed") throw Wrong("status is \"" + status + "\", not \"completed\": the table is not finished");
  Ranks ranks;
  by_rank ? TakeRankList(root, ranks) : TakeServers(root, ranks);
  if (ranks.empty() || ranks.rbegin()->first + 1 != ranks.size())
    throw Wrong("the rank_ids do not run from 0 to " + std::to_string(ranks.size()) + " - 1 without a gap");
  for (const auto& [rank, entry] : ranks) table->ranks.push_back(entry);
  table->one_server = IsOneServer(*table);
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
