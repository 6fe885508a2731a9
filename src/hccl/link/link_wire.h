// What two ends of a link say to each other over their connections: the types of frames (rank_connection.h), what their id is, and what is
// in their bodies. Everything but the bytes of items goes over the first connection.
#pragma once

#include <cstdint>

namespace ropeway::comm {

enum LinkFrame : uint16_t {
  // Of every link.
  kGoodbye = 8,     // nothing more will come: what is pending is lost
  kMoreWanted = 9,  // a large transfer is coming: make more connections
  kOpening = 10,    // 1 for the first connection, else 0: what whoever made a connection says there first

  // Of a TCP link. The id is the number that whoever asks for a transfer gives to it; bytes of items come as bulk behind the frame, those
  // of
  // up to Bulk::kMostParts ranges of one region, and kTcpFrameBytes in all.
  kPutData = 1,     // region, bytes of the whole put; offset and size of each range; bulk
  kPutDone = 2,     // status: all bytes of a put have arrived, or why they did not go where they should
  kPutGivenUp = 3,  // bytes that have been sent: no more of this put will come; kPutDone answers when they are there
  kGetRequest = 4,  // number of the first item; region, offset and size of each
  kGetData = 5,     // number of an item, offset in it; bulk, which may go on into the items behind it
  kGetFailed = 6,   // status
  kGetGivenUp = 7,  // nobody wants the rest of this get

  // Of a UCX link, whose bytes go another way: who may reach which memory.
  kKeyWanted = 20,    // id: a region. I want to put into it, or get from it
  kKey = 21,          // id: a number for the key. Region, address, size, 1 if it is for one put only; then UCX's key
  kKeyRefused = 22,   // id: the region, which is not there
  kKeyRevoked = 23,   // id: the key's. Give it back when nothing is on its way there any more
  kKeyReturned = 24,  // id: the key's. Bytes of the put that is complete, or 0. Nobody here can reach the memory any more
};

}  // namespace ropeway::comm
