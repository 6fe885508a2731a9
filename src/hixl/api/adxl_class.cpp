// adxl::AdxlEngine.
#include "adxl/adxl_engine.h"
#include "hixl/api/face_util.h"
#include "hixl/api/shareable_memory.h"

namespace adxl {

using namespace ropeway::transfer;  // NOLINT: the engine's words

static_assert(sizeof(TransferOpDesc) == 24 && sizeof(MemDesc) == 144 && sizeof(TransferArgs) == 128 && sizeof(NotifyDesc) == 32);

class AdxlEngine::AdxlEngineImpl {
 public:
  Face& operator*() { return *face_; }
  Face* operator->() { return face_.get(); }

 private:
  const std::unique_ptr<Face> face_{ropewayNewTransferEngine(&kAdxl)};
};

#define RW_CALL(function) (Call{"AdxlEngine::" function, __builtin_return_address(0)})

AdxlEngine::AdxlEngine() : impl_(new AdxlEngineImpl) {}
AdxlEngine::~AdxlEngine() { Finalize(); }

Status AdxlEngine::Initialize(const AscendString& local_engine, const std::map<AscendString, AscendString>& options) {
  Texts texts;
  for (const auto& [key, value] : options) texts.emplace_back(TextOf(key), TextOf(value));
  return (*impl_)->Initialize(RW_CALL("Initialize"), TextOf(local_engine), texts);
}
void AdxlEngine::Finalize() { (*impl_)->Finalize(); }

Status AdxlEngine::RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle) {
  return (*impl_)->RegisterMem(RW_CALL("RegisterMem"), mem.addr, mem.len, type, &mem_handle);
}
Status AdxlEngine::DeregisterMem(MemHandle mem_handle) { return (*impl_)->DeregisterMem(RW_CALL("DeregisterMem"), mem_handle); }

Status AdxlEngine::Connect(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->Connect(RW_CALL("Connect"), TextOf(remote_engine), timeout_in_millis);
}
Status AdxlEngine::Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis) {
  return (*impl_)->Disconnect(RW_CALL("Disconnect"), TextOf(remote_engine), timeout_in_millis);
}

Status AdxlEngine::TransferSync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                                int32_t timeout_in_millis) {
  return (*impl_)->TransferSync(RW_CALL("TransferSync"), TextOf(remote_engine), operation, DescriptorsOf(op_descs), timeout_in_millis);
}
Status AdxlEngine::TransferAsync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                                 const TransferArgs& /*optional_args*/, TransferReq& req) {
  return (*impl_)->TransferAsync(RW_CALL("TransferAsync"), TextOf(remote_engine), operation, DescriptorsOf(op_descs), nullptr, &req);
}
Status AdxlEngine::GetTransferStatus(const TransferReq& req, TransferStatus& status) {
  ::hixl::TransferStatus state = ::hixl::TransferStatus::FAILED;
  const Status answer = (*impl_)->RequestState(RW_CALL("GetTransferStatus"), req, &state);
  status = static_cast<TransferStatus>(state);
  return answer;
}

Status AdxlEngine::SendNotify(const AscendString& remote_engine, const NotifyDesc& notify, int32_t timeout_in_millis) {
  return (*impl_)->SendNotify(RW_CALL("SendNotify"), TextOf(remote_engine), TextOf(notify.name), TextOf(notify.notify_msg),
                              timeout_in_millis);
}
Status AdxlEngine::GetNotifies(std::vector<NotifyDesc>& notifies) {
  Texts taken;
  const Status status = (*impl_)->TakeNotifies(RW_CALL("GetNotifies"), &taken);
  if (status == SUCCESS) HandOut(taken, kAdxl, &notifies);
  return status;
}

Status AdxlEngine::GetCapability(FeatureType feature_type, int32_t& value) { return Capability(feature_type, &value); }

Status AdxlEngine::MallocMem(MemType type, size_t size, void** ptr) {
  return ShareableMemory::Get().Malloc(RW_CALL("MallocMem"), type, size, ptr);
}
Status AdxlEngine::ExportToShareableHandle(void* ptr, ShareableHandle& handle) {
  return ShareableMemory::Get().Export(RW_CALL("ExportToShareableHandle"), ptr, &handle);
}
Status AdxlEngine::FreeMem(void* ptr) { return ShareableMemory::Get().Free(RW_CALL("FreeMem"), ptr); }

}  // namespace adxl
