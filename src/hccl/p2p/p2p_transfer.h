// One send or receive: a buffer of this rank, and the number under which its partner finds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "hccl/base/reduce_kernel.h"
#include "hccl/link/peer_link.h"
#include "hccl/membership/communicator.h"
#include "hccl/transport/window.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

// What a receive does with the bytes instead of storing them: buffer = left op bytes, or bytes op left.
struct Combination {
  ReduceKernel kernel = nullptr;  // null: it stores them
  const void* left = nullptr;     // as the host reaches it; may be the buffer
  uint64_t count = 0;             // elements
  bool bytes_first = false;
  explicit operator bool() const { return kernel != nullptr; }
  uint64_t Unit(uint64_t bytes) const { return bytes / count; }  // bytes of an element
  void Apply(void* buffer, const void* bytes) const { kernel(buffer, bytes_first ? bytes : left, bytes_first ? left : bytes, count); }
  // Of the bytes of `elements` from `offset` on, which is a multiple of theirs.
  void ApplyPart(void* buffer, const void* bytes, uint64_t offset, uint64_t elements) const {
    const auto at = [offset](const void* memory) { return static_cast<const char*>(memory) + offset; };
    kernel(static_cast<char*>(buffer) + offset, at(bytes_first ? bytes : left), at(bytes_first ? left : bytes), elements);
  }
};

struct Transfer {
  bool sending = false;
  uint32_t peer = 0;
  uint64_t number = 0;  // the how-manieth send (receive) to this peer: both sides count alike
  void* buffer = nullptr;
  uint64_t bytes = 0;
  int32_t device = 0;
  aclrtContext context = nullptr;
  bool on_host = false;          // the buffer is host memory of our own, and the partner's is, too, if it is in this process
  std::shared_ptr<Window> view;  // host access to the buffer; null when the engine has none
  std::shared_ptr<Window> bare;  // then: the buffer itself, for a link that moves device memory
  Combination combination;       // of a receive; it needs a view
  bool eager = false;            // of a send: one whose bytes go with the offer is over without an answer
  bool of_many = false;          // one of so many bytes at once that the link moves them faster than one thread

  // `accessible`: where the host reaches the buffer, or null.
  void SetView(void* accessible) {
    (accessible != nullptr ? view : bare) = std::make_shared<Window>(accessible != nullptr ? accessible : buffer);
  }
  // The stream gives the buffer back.
  void Revoke() const {
    for (const std::shared_ptr<Window>& memory : {view, bare})
      if (memory) memory->Close();
  }

  // Of the I/O thread.
  enum class State {
    kIdle,
    kWaiting,    // for the partner
    kCopying,    // the engine copies inside this host: there in a moment, whatever happens to the partner
    kStreaming,  // over the network
    kOver,
  } state = State::kIdle;
  std::shared_ptr<Window> window;  // `view`, `bare`, or the staging memory's
  // For the link: whose device memory the window is.
  aclrtContext window_context() const { return window != nullptr && window == bare ? context : nullptr; }
  ropewayLink way = ROPEWAY_LINK_NONE;  // by which the bytes go, once that is known
  std::string key;                      // under which the buffer's block is exported to the partner's process
  std::shared_ptr<Peer> link;           // over which a receive's bytes come, once it is exposed there
  // Of a send over the link, which is over when both have been told, on different threads: whoever comes second ends it. Of a receive
  // without an answer: the bytes are here, and the partner may know.
  enum Told : uint8_t { kPutIsOver = 1, kPartnerHasIt = 2, kBytesAreHere = 4 };
  bool carried = false;     // of a send: its bytes went behind the offer
  bool on_demand = false;   // of a send: they go when the receive says that it is ready
  bool said_ready = false;  // of a receive
  bool answered = true;     // by kTaken; else the end of the put tells both
  std::atomic<uint8_t> told{0};
  void* staging = nullptr;  // pinned memory in the buffer's place when there is no view
  std::function<void(HcclResult, const std::string& why)> done;
};
using TransferRef = std::shared_ptr<Transfer>;

}  // namespace ropeway::comm
