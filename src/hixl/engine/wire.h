// What two engines say to each other over the control connection: the types of frames (hccl/transport/rank_connection.h), and what is in
// their bodies. Bytes of transfers go another way: by the engine of the runtime, or over a link of connections of its own.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway::transfer {

enum ControlFrame : uint16_t {
  // Asked by who connects. The id is the asker's number for it; kAnswer has the same.
  kHello = 1,    // host, process and pid of the asker. Answer: number of the link, 1 if both share a host, and what process_memory.h tells
  kRegions = 2,  // Answer: how many regions are registered now; number, address, size, 1 if device, device, Way and key of each
  kNotify = 3,   // name, message. Answer: 0, or the code of the refusal
  kAnswer = 4,
  // Told by who was connected to, and answered with kGoneHeard. The id is the region's: it is no longer registered.
  kGone = 5,
  kGoneHeard = 6,
};

// How the asker reaches a region.
enum class Way : uint8_t {
  kAddress = 1,  // in the same process, by its address
  kMapping = 2,  // on the same host, by mapping it
  kProcess = 3,  // on the same host, through the kernel (process_vm_readv)
  kLink = 4,     // by connections
};

// The name of an engine as the door knows it (handshake.h): 16 bytes.
std::string DoorName(const std::string& engine);

}  // namespace ropeway::transfer
