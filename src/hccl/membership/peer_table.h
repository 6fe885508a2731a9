// The list of ranks as it goes over the wire. A host's identity is written once however many ranks it has.
#pragma once

#include <string>
#include <vector>

#include "hccl/membership/communicator.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {

std::string WritePeers(const std::vector<PeerInfo>& peers);
// False, with *peers in an unknown state, when the bytes are not such a list.
bool ReadPeers(Reader& reader, std::vector<PeerInfo>* peers);

}  // namespace ropeway::comm
