// What two ends of a TCP link say to each other: the types of frames (rank_connection.h), whose id is the number that whoever asks for a
// transfer gives to it, and what is in their bodies. Bytes of items come as bulk behind the frame. Everything but those goes over the first
// connection.
#pragma once

#include <cstdint>

namespace ropeway::comm {

enum TcpFrame : uint16_t {
  kPutData = 1,     // region, offset, bytes of the whole put; bulk
  kPutDone = 2,     // status: all bytes of a put have arrived, or why they did not go where they should
  kPutGivenUp = 3,  // bytes that have been sent: no more of this put will come; kPutDone answers when they are there
  kGetRequest = 4,  // number of the first item; region, offset and size of each
  kGetData = 5,     // number of the item, offset in it; bulk
  kGetFailed = 6,   // status
  kGetGivenUp = 7,  // nobody wants the rest of this get
  kGoodbye = 8,     // nothing more will come: what is pending is lost
  kMoreWanted = 9,  // a large transfer is coming: make more connections
  kOpening = 10,    // 1 for the first connection, else 0: what whoever made a connection says there first
};

}  // namespace ropeway::comm
