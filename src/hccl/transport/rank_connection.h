// Frames over one authenticated TCP connection, without ever blocking: what does not fit into the socket waits here. A
// frame has a type, an id, a body, and may be followed by bulk bytes that go straight from the sender's memory into the
// receiver's. Everything here belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "hccl/hccl_types.h"
#include "hccl/transport/socket.h"
#include "hccl/transport/window.h"

namespace ropeway::comm {

// What the end of a connection means for the rank behind it: a process that ends closes its sockets in order, a link that breaks does
// not.
constexpr HcclResult LossOf(bool clean) { return clean ? HCCL_E_REMOTE : HCCL_E_TCP_TRANSFER; }

struct Frame {
  uint16_t type = 0;
  uint64_t id = 0;
  std::string body;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Events {
    std::function<void(Frame)> received;
    // Where the next `size` bytes go; null breaks the connection. May be empty: then bulk bytes break it.
    std::function<std::shared_ptr<Window>(uint64_t id, uint64_t size)> bulk_begins;
    std::function<void(uint64_t id)> bulk_ended;
    // Once, unless Close was called first. `clean`: the other end closed in order; else the link broke.
    std::function<void(bool clean, const std::string& why)> closed;
  };
  // The largest body that is believed: the table of 100,000 ranks fits.
  static constexpr uint32_t kLargestBody = 16u << 20;

  static std::shared_ptr<Connection> Open(FileDescriptor fd, Events events);

  void Send(const Frame& frame);
  // Bytes of a window. A window that is closed in the middle breaks the connection, at either end.
  void SendBulk(uint64_t id, std::shared_ptr<Window> window, uint64_t size);
  // No event comes afterwards. What was sent still goes out when the socket takes it now, or within a bounded time.
  void Close();
  // The same, and whatever still waits to be sent is forgotten.
  void Abort();

 private:
  struct Outgoing {
    std::string head;
    std::shared_ptr<Window> window;
    uint64_t bulk_size = 0;
    uint64_t done = 0;  // of head and bulk together
  };

  Connection(FileDescriptor fd, Events events) : fd_(std::move(fd)), events_(std::move(events)) {}
  void Ready(uint32_t events);
  void Flush();
  bool FlushOne(Outgoing& out);
  long SendSome(const Outgoing& out, char* bulk);
  void Receive();
  void ReceiveNothing();
  bool TakeFrames();
  bool BeginBulk(uint64_t id, uint64_t size);
  long ReceiveBulk();
  void EndBulk();
  void Break(bool clean, const std::string& why);
  void Watch();

  FileDescriptor fd_;
  Events events_;
  std::deque<Outgoing> outgoing_;
  std::string incoming_;
  std::shared_ptr<Window> bulk_;
  uint64_t bulk_done_ = 0;
  uint64_t bulk_left_ = 0;
  uint64_t bulk_id_ = 0;
  bool wants_write_ = false;
  bool closing_ = false;
  std::shared_ptr<Connection> lingering_;  // itself, while a closed connection sends its last words
};

}  // namespace ropeway::comm
