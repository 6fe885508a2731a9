// The functions of the interface: the checks that come before an engine is asked.
#include "hixl/engine/face.h"

#include "hixl/engine/engine.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {
namespace {

constexpr size_t kMostText = 1024;

Status RequireLimit(int32_t limit_ms) {
  if (limit_ms > 0) return Ok();
  return Fail(kParamInvalid, "timeout_in_millis %d is not above 0", limit_ms);
}

Status RequireText(const char* what, const std::string& text) {
  if (text.size() <= kMostText) return Ok();
  return Fail(kParamInvalid, "%s has %zu bytes, %zu at most are allowed", what, text.size(), kMostText);
}

class FaceOfEngine final : public Face {
 public:
  explicit FaceOfEngine(const Dialect& dialect) : dialect_(dialect) {}

  uint32_t Initialize(const Call& call, const std::string& name, const Texts& options) override {
    return Entry(call.name, call.caller, [&]() -> Status {
      if (dialect_.drops_old_engine_first) engine_.reset();
      RW_TRY_SET(engine_, Engine::Start(name, options));
      return Ok();
    });
  }
  void Finalize() override { engine_.reset(); }

  uint32_t RegisterMem(const Call& call, uintptr_t address, size_t size, int type, void** handle) override {
    return With(call, [&] { return engine_->RegisterMem(address, size, type, handle); });
  }
  uint32_t DeregisterMem(const Call& call, void* handle) override {
    return With(call, [&] { return engine_->DeregisterMem(handle); });
  }
  uint32_t Connect(const Call& call, const std::string& remote, int32_t limit_ms) override {
    return WithLimit(call, limit_ms, [&] { return engine_->Connect(remote, limit_ms); });
  }
  uint32_t Disconnect(const Call& call, const std::string& remote, int32_t limit_ms) override {
    return WithLimit(call, limit_ms, [&] { return engine_->Disconnect(remote); });
  }
  uint32_t ConnectAsync(const Call& call, const std::string& remote, int32_t limit_ms) override {
    return WithLimit(call, limit_ms, [&] { return engine_->ConnectLater(remote, limit_ms); });
  }
  uint32_t DisconnectAsync(const Call& call, const std::string& remote, int32_t limit_ms) override {
    return WithLimit(call, limit_ms, [&] { return engine_->DisconnectLater(remote); });
  }
  uint32_t ConnectState(const Call& call, const std::string& remote, ::hixl::AsyncConnectStatus* state) override {
    return With(call, [&] {
      *state = engine_->pool().Of(remote);
      return Ok();
    });
  }
  uint32_t ConnectStatesOfAll(const Call& call, ConnectStates* states) override {
    return With(call, [&] {
      *states = engine_->pool().All();
      return Ok();
    });
  }
  uint32_t TransferSync(const Call& call, const std::string& remote, int operation, Descriptors descriptors, int32_t limit_ms) override {
    return WithLimit(call, limit_ms, [&] { return engine_->TransferSync(remote, operation, descriptors, limit_ms); });
  }
  uint32_t TransferAsync(const Call& call, const std::string& remote, int operation, Descriptors descriptors, const void* user_data,
                         void** request) override {
    return With(call, [&] { return engine_->TransferAsync(remote, operation, descriptors, user_data, request); });
  }
  uint32_t RequestState(const Call& call, void* request, ::hixl::TransferStatus* status) override {
    *status = ::hixl::TransferStatus::FAILED;
    return With(call, [&] { return engine_->RequestState(request, status); });
  }
  uint32_t RequestStates(const Call& call, uint32_t most, bool skip_waiting, std::vector<::hixl::TransferResult>* results) override {
    return With(call, [&] { return engine_->RequestStates(most, skip_waiting, results); });
  }
  uint32_t SendNotify(const Call& call, const std::string& remote, const std::string& name, const std::string& message,
                      int32_t limit_ms) override {
    return With(call, [&]() -> Status {
      RW_TRY(RequireText("notify.name", name));
      if (!dialect_.message_before_time_limit) RW_TRY(RequireLimit(limit_ms));
      RW_TRY(RequireText("notify.notify_msg", message));
      RW_TRY(RequireLimit(limit_ms));
      return engine_->SendNotify(remote, name, message, limit_ms);
    });
  }
  uint32_t TakeNotifies(const Call& call, Texts* notifies) override {
    return With(call, [&] {
      engine_->TakeNotifies(notifies);
      return Ok();
    });
  }

 private:
  template <typename Body>
  uint32_t With(const Call& call, Body&& body) {
    return Entry(call.name, call.caller, [&]() -> Status {
      if (engine_ == nullptr) return Fail(kFailed, "the engine is not at work: call Initialize first");
      return body();
    });
  }
  template <typename Body>
  uint32_t WithLimit(const Call& call, int32_t limit_ms, Body&& body) {
    return With(call, [&]() -> Status {
      RW_TRY(RequireLimit(limit_ms));
      return body();
    });
  }

  const Dialect dialect_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace
}  // namespace ropeway::transfer

ropeway::transfer::Face* ropewayNewTransferEngine(const ropeway::transfer::Dialect* dialect) {
  return new ropeway::transfer::FaceOfEngine(*dialect);
}
