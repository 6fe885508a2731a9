// Frames over one authenticated TCP connection, without ever blocking: what does not fit into the socket waits here. A
// frame has a type, an id, a body, and may be followed by bulk bytes that go straight from the sender's memory into the
// receiver's. Everything here belongs to one thread: the I/O thread, the link's, or one of those beside it; what others ask for is done
// there a moment later.
//
// Memory is touched under its lease, for the length of one system call, and left alone at once when that is closed. A frame
// that has been queued is sent as a whole all the same: whoever closes the lease copies what is missing (Lease::Reader), which is one frame
// of the link at most, or a carried message, and the receiver reads on and forgets what it reads.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hccl/hccl_types.h"
#include "hccl/transport/incoming.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/secure_socket.h"
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

// A frame goes with the last of what is sent before the thread goes to sleep, so that those that belong together are one packet; or now,
// with what waits, when nothing is going to be said that belongs to it.
enum class Leaves : bool { kTogether, kNow };

// Where bulk bytes come from, or go to, part by part. Without a lease they are read and forgotten.
class Bulk {
 public:
  static constexpr size_t kMostParts = 256;

  Bulk() = default;
  explicit Bulk(std::shared_ptr<Lease> under) : lease(std::move(under)) {}
  Bulk(void* data, uint64_t bytes, std::shared_ptr<Lease> under) : lease(std::move(under)) { Add(data, bytes); }
  void Add(void* data, uint64_t bytes);
  // False: it has as many parts as a system call is given.
  bool HasRoom() const { return parts_.size() < kMostParts; }
  uint64_t size() const { return size_; }
  // What lies behind the first `done` bytes, `limit` at most, as a system call takes it; how many parts that are.
  size_t Behind(uint64_t done, uint64_t limit, iovec* parts) const;

  std::shared_ptr<Lease> lease;
  // Where the parts are not where the bytes belong: what is theirs, and, of bytes that come, what takes them there when all have come,
  // under the lease. False: it could not.
  std::shared_ptr<void> holds = nullptr;
  std::function<bool()> settle = nullptr;
  // Of bytes that come: how many there are by now, told under the lease, again and again, and with all of them at last.
  std::function<void(uint64_t there)> came = nullptr;

 private:
  std::vector<iovec> parts_;
  uint64_t size_ = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Events {
    std::function<void(Frame)> received;
    // `size` bytes follow a frame: where they go. Nothing breaks the connection. May be empty: then bulk bytes break it.
    std::function<std::optional<Bulk>(const Frame& frame, uint64_t size)> bulk_begins = nullptr;
    // `taken`: all of them are there.
    std::function<void(const Frame& frame, uint64_t size, bool taken)> bulk_ended = nullptr;
    // Nothing waits to be sent: the time for SendBulk. May be empty.
    std::function<void()> idle = nullptr;
    // Once, unless Close was called first. `clean`: the other end closed in order; else the link broke.
    std::function<void(bool clean, const std::string& why)> closed;
    // Whether threads that stand in for the connection's may be told of what arrives (IoThread::Look); its end they are not.
    bool by_visitors = false;
    // How much is read at once where a frame is expected. Bulk bytes among it are copied, so it is little where there are many of them.
    size_t read_bytes = 64 << 10;
  };
  // The largest body that is believed: the table of 100,000 ranks fits.
  static constexpr uint32_t kLargestBody = 16u << 20;

  static std::shared_ptr<Connection> Open(SecureSocket fd, Events events, IoThread& thread = IoThread::Get());
  // The same in two steps, for events that need to know the connection.
  static std::shared_ptr<Connection> Make(SecureSocket fd, Events events, IoThread& thread);
  void Start();

  // `rest`: of its body, for as long as the call takes.
  void Send(const Frame& frame, std::string_view rest = {}, Leaves leaves = Leaves::kTogether);
  // Inside Events::idle: a frame and bytes behind it. False when their lease is closed: then nothing is sent.
  bool SendBulk(const Frame& frame, Bulk bulk);
  // The same at any time, in order with other frames. `gone`: the bytes are with the kernel, and their memory is needed no more; not called
  // when the connection ends before.
  bool SendWithBulk(const Frame& frame, Bulk bulk, std::function<void()> gone);
  // Somebody has something to send: asks Events::idle when nothing else waits.
  void Wake();
  // Takes what has arrived, without waiting to be told of it, if the calling thread is the one for that. Whether there was something. Who
  // calls this holds the connection.
  bool Look();
  // No event comes afterwards. What was sent still goes out when the socket takes it now, or within a bounded time.
  void Close();
  // The same, and whatever still waits to be sent is forgotten.
  void Abort();
  // The same, and the other end sees that the link broke, and not that this one closed.
  void Reset();

  // Bytes in both directions so far.
  uint64_t moved() const { return moved_; }

 private:
  // A frame on its way out.
  struct Outgoing final : Lease::Reader {
    Outgoing() = default;
    ~Outgoing() override;
    void Rescue() override;
    uint64_t size() const { return head.size() + bulk.size(); }
    uint64_t bulk_done() const { return done > head.size() ? done - head.size() : 0; }

    std::string head;   // of this frame, and all of those before it that have no bulk
    Bulk bulk;          // constant once its lease knows of it
    uint64_t done = 0;  // of head and bulk together
    std::string rest;   // of the bulk, once the lease is closed
    std::function<void()> gone;
  };

  Connection(IoThread& thread, SecureSocket fd, Events events) : thread_(thread), fd_(std::move(fd)), events_(std::move(events)) {}
  void Ready(uint32_t events);
  void Serve(uint32_t events);
  size_t Queue(const Frame& frame, std::string_view rest, Bulk bulk);
  void Spare(std::unique_ptr<Outgoing> gone);
  void FlushSoon();
  void Flush();
  bool FlushOne(Outgoing& out, uint64_t* turn);
  long SendSome(Outgoing& out);
  long SendFrom(const Outgoing& out, bool rescued);
  void Receive();
  void ReceiveTurn();
  void WakeWithEnough();
  void ReadLater();
  void ReceiveNothing();
  long ReceiveSome(size_t* wanted);
  long ReceiveFrames(size_t* wanted);
  long ReceiveBulk(size_t* wanted);
  long ReceiveInto(size_t* wanted);
  long ReceiveIgnored(size_t size);
  bool TakeFrames();
  void TakeRest();
  bool BeginBulk(Frame frame, uint64_t size);
  void EndBulk();
  void Break(bool clean, const std::string& why);
  void Watch();
  // Whether the calling thread has to leave it to the connection's own, which does it a moment later.
  bool Leave(void (Connection::*what)());

  IoThread& thread_;
  SecureSocket fd_;
  Events events_;
  std::deque<std::unique_ptr<Outgoing>> outgoing_;
  std::unique_ptr<Outgoing> spare_;  // with the room that a head had
  bool flushing_ = false;
  bool flushes_soon_ = false;
  bool wants_write_ = false;
  Incoming incoming_;
  Frame bulk_frame_;  // the bytes behind it are coming
  Bulk bulk_;
  uint64_t bulk_size_ = 0;
  uint64_t bulk_done_ = 0;
  bool bulk_coming_ = false;
  bool had_bulk_ = false;  // the last frame: the next one has, too, as a rule, and only its head is read with it
  int wakes_with_ = 1;
  bool closing_ = false;
  std::atomic<uint64_t> moved_{0};
  std::atomic<bool> woken_{false};  // its thread is going to flush
  int send_error_ = 0;
  std::shared_ptr<Connection> lingering_;  // itself, while a closed connection sends its last words
};

}  // namespace ropeway::comm
