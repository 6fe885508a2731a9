#include "hccl/membership/peer_table.h"

#include <cstring>
#include <map>

namespace ropeway::comm {
namespace {

constexpr size_t kLeastPeerBytes = 4 + 8 + 4 + 4 + 4 + 1 + 16 + 2;  // what one peer takes, so that a wrong count allocates nothing

void WritePeer(Writer& writer, const PeerInfo& peer, uint32_t host) {
  writer.Number(host).Number(peer.process).Number(peer.pid).Number(peer.device).Number(peer.world_rank);
  writer.Number(peer.address.family).Raw({reinterpret_cast<const char*>(peer.address.bytes), 16}).Number(peer.address.port);
}

uint32_t ReadPeer(Reader& reader, PeerInfo* peer) {
  const auto host = reader.Number<uint32_t>();
  peer->process = reader.Number<uint64_t>();
  peer->pid = reader.Number<int32_t>();
  peer->device = reader.Number<int32_t>();
  peer->world_rank = reader.Number<uint32_t>();
  peer->address.family = reader.Number<uint8_t>();
  const std::string_view bytes = reader.Raw(16);
  if (bytes.size() == 16) std::memcpy(peer->address.bytes, bytes.data(), 16);
  peer->address.port = reader.Number<uint16_t>();
  return host;
}

}  // namespace

std::string WritePeers(const std::vector<PeerInfo>& peers) {
  std::map<std::string, uint32_t> numbers;
  std::vector<const std::string*> hosts;
  for (const PeerInfo& peer : peers) {
    if (numbers.emplace(peer.host, static_cast<uint32_t>(hosts.size())).second) hosts.push_back(&peer.host);
  }
  Writer writer;
  writer.Number(static_cast<uint32_t>(hosts.size())).Number(static_cast<uint32_t>(peers.size()));
  for (const std::string* host : hosts) writer.String(*host);
  for (const PeerInfo& peer : peers) WritePeer(writer, peer, numbers[peer.host]);
  return writer.Take();
}

bool ReadPeers(Reader& reader, std::vector<PeerInfo>* peers) {
  const auto host_count = reader.Number<uint32_t>();
  const auto peer_count = reader.Number<uint32_t>();
  if (host_count > reader.rest().size() / 4 || peer_count > reader.rest().size() / kLeastPeerBytes) return false;
  std::vector<std::string> hosts(host_count);
  for (std::string& host : hosts) host = reader.String();
  peers->resize(peer_count);
  for (PeerInfo& peer : *peers) {
    const uint32_t host = ReadPeer(reader, &peer);
    if (!reader.ok() || host >= hosts.size()) return false;
    peer.host = hosts[host];
  }
  return reader.ok();
}

}  // namespace ropeway::comm
