// The engine behind both classes of the interface, hixl::Hixl and adxl::AdxlEngine. They lie in two libraries: this is what one knows of
// the other, and nothing but virtual functions crosses the border.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hixl/hixl_types.h"

namespace ropeway::transfer {

// What answers a call of the program: its name, and where it was made.
struct Call {
  const char* name;
  const void* caller;
};

// In what the two classes differ.
struct Dialect {
  bool drops_old_engine_first;     // Initialize of an engine that is at work
  bool appends_notifies;           // GetNotifies leaves what the vector has
  bool message_before_time_limit;  // the order of SendNotify's checks
};
inline constexpr Dialect kHixl{.drops_old_engine_first = false, .appends_notifies = false, .message_before_time_limit = false};
inline constexpr Dialect kAdxl{.drops_old_engine_first = true, .appends_notifies = true, .message_before_time_limit = true};

using Texts = std::vector<std::pair<std::string, std::string>>;  // options, notifies
using ConnectStates = std::vector<std::pair<std::string, ::hixl::AsyncConnectStatus>>;

// The descriptors of a call, which both classes lay out alike.
struct Descriptors {
  const ::hixl::TransferOpDesc* first;
  size_t count;
};

// Codes as results; functions of the interface, in its order.
class Face {
 public:
  virtual ~Face() = default;
  virtual uint32_t Initialize(const Call& call, const std::string& name, const Texts& options) = 0;
  virtual void Finalize() = 0;
  virtual uint32_t RegisterMem(const Call& call, uintptr_t address, size_t size, int type, void** handle) = 0;
  virtual uint32_t DeregisterMem(const Call& call, void* handle) = 0;
  virtual uint32_t Connect(const Call& call, const std::string& remote, int32_t limit_ms) = 0;
  virtual uint32_t Disconnect(const Call& call, const std::string& remote, int32_t limit_ms) = 0;
  virtual uint32_t ConnectAsync(const Call& call, const std::string& remote, int32_t limit_ms) = 0;
  virtual uint32_t DisconnectAsync(const Call& call, const std::string& remote, int32_t limit_ms) = 0;
  virtual uint32_t ConnectState(const Call& call, const std::string& remote, ::hixl::AsyncConnectStatus* state) = 0;
  virtual uint32_t ConnectStatesOfAll(const Call& call, ConnectStates* states) = 0;
  virtual uint32_t TransferSync(const Call& call, const std::string& remote, int operation, Descriptors descriptors, int32_t limit_ms) = 0;
  virtual uint32_t TransferAsync(const Call& call, const std::string& remote, int operation, Descriptors descriptors, const void* user_data,
                                 void** request) = 0;
  virtual uint32_t RequestState(const Call& call, void* request, ::hixl::TransferStatus* status) = 0;
  virtual uint32_t RequestStates(const Call& call, uint32_t most, bool skip_waiting, std::vector<::hixl::TransferResult>* results) = 0;
  virtual uint32_t SendNotify(const Call& call, const std::string& remote, const std::string& name, const std::string& message,
                              int32_t limit_ms) = 0;
  virtual uint32_t TakeNotifies(const Call& call, Texts* notifies) = 0;
};

}  // namespace ropeway::transfer

extern "C" __attribute__((visibility("default"))) ropeway::transfer::Face* ropewayNewTransferEngine(
    const ropeway::transfer::Dialect* dialect);
