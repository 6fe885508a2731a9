// hixl::Hixl.
#include "hixl/api/face_util.h"
#include "hixl/hixl.h"

namespace hixl {

using namespace ropeway::transfer;  // NOLINT: the engine's words

static_assert(sizeof(TransferOpDesc) == 24 && sizeof(MemDesc) == 144 && sizeof(TransferArgs) == 128 && sizeof(NotifyDesc) == 32);

class Hixl::HixlImpl {
 public:
  Face& operator*() { return *face_; }
  Face* operator->() { return face_.get(); }

 private:
  const std::unique_ptr<Face> face_{ropewayNewTransferEngine(&kHixl)};
};

#define RW_CALL(function) (Call{"Hixl::" function, __builtin_return_address(0)})

Hixl::Hixl() : impl_(new HixlImpl) {}
Hixl::~Hixl() { Finalize(); }

Status Hixl::Initialize(const AscendString& local_engine, const std::map<AscendString, AscendString>& options) {
  Texts texts;
  for (const auto& [key, value] : options) texts.emplace_back(TextOf(key), TextOf(value));
  return (*impl_)->Initialize(RW_CALL("Initialize"), TextOf(local_engine), texts);
}
void Hixl::Finalize() { (*impl_)->Finalize(); }

Status Hixl::RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle) {
  return (*impl_)->RegisterMem(RW_CALL("RegisterMem"), mem.addr, mem.len, type, &mem_handle);
}
Status Hixl::DeregisterMem(MemHandle mem_handle) { return (*impl_)->DeregisterMem(RW_CALL("DeregisterMem"), mem_handle); }

Status Hixl::Connect(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->Connect(RW_CALL("Connect"), TextOf(remote_engine), timeout_in_millis);
}
Status Hixl::Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->Disconnect(RW_CALL("Disconnect"), TextOf(remote_engine), timeout_in_millis);
}

Status Hixl::ConnectAsync(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->ConnectAsync(RW_CALL("ConnectAsync"), TextOf(remote_engine), timeout_in_millis);
}
Status Hixl::DisconnectAsync(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->DisconnectAsync(RW_CALL("DisconnectAsync"), TextOf(remote_engine), timeout_in_millis);
}
Status Hixl::GetAsyncConnectStatus(const AscendString& remote_engine, AsyncConnectStatus& connect_status) {
  return (*impl_)->ConnectState(RW_CALL("GetAsyncConnectStatus"), TextOf(remote_engine), &connect_status);
}
Status Hixl::GetAsyncConnectStatus(std::map<AscendString, AsyncConnectStatus>& connect_status) {
  connect_status.clear();
  ConnectStates states;
  const Status status = (*impl_)->ConnectStatesOfAll(RW_CALL("GetAsyncConnectStatus"), &states);
  for (const auto& [remote, state] : states) connect_status[AscendString(remote.c_str())] = state;
  return status;
}

Status Hixl::TransferSync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                          int32_t timeout_in_millis) {
  return (*impl_)->TransferSync(RW_CALL("TransferSync"), TextOf(remote_engine), operation, DescriptorsOf(op_descs), timeout_in_millis);
}
Status Hixl::TransferAsync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                           const TransferArgs& optional_args, TransferReq& req) {
  return (*impl_)->TransferAsync(RW_CALL("TransferAsync"), TextOf(remote_engine), operation, DescriptorsOf(op_descs),
                                 optional_args.user_data, &req);
}
Status Hixl::GetTransferStatus(const TransferReq& req, TransferStatus& status) {
  return (*impl_)->RequestState(RW_CALL("GetTransferStatus"), req, &status);
}
Status Hixl::GetTransferStatus(const GetTransferStatusArgs& args, std::vector<TransferResult>& results) {
  results.clear();
  return (*impl_)->RequestStates(RW_CALL("GetTransferStatus"), args.max_query_count, args.skip_waiting, &results);
}

Status Hixl::SendNotify(const AscendString& remote_engine, const NotifyDesc& notify, int32_t timeout_in_millis) {
  return (*impl_)->SendNotify(RW_CALL("SendNotify"), TextOf(remote_engine), TextOf(notify.name), TextOf(notify.notify_msg),
                              timeout_in_millis);
}
Status Hixl::GetNotifies(std::vector<NotifyDesc>& notifies) {
  Texts taken;
  const Status status = (*impl_)->TakeNotifies(RW_CALL("GetNotifies"), &taken);
  if (status == SUCCESS) HandOut(taken, kHixl, &notifies);
  return status;
}

Status Hixl::GetCapability(FeatureType feature_type, int32_t& value) { return Capability(feature_type, &value); }

}  // namespace hixl
