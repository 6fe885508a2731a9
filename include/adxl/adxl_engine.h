/*
 * AdxlEngine: memory of other engines, read and written without their doing. An engine has a name, "ip:port" or "[v6]:port", at which it
 * listens; without a port it only connects. Both sides register memory, one connects to the other by its name, and transfers go
 * between local and remote addresses. Any thread may call anything but Initialize and Finalize, which nobody else may accompany.
 * Needs a device (aclrtSetDevice). Library: libllm_datadist.so. C++.
 */
#ifndef RW_ADXL_ADXL_ENGINE_H
#define RW_ADXL_ADXL_ENGINE_H

#include <map>
#include <memory>
#include <vector>

#include "adxl_types.h"

namespace adxl {

class ASCEND_FUNC_VISIBILITY AdxlEngine {
   public:
    AdxlEngine();
    ~AdxlEngine();

    Status Initialize(const AscendString& local_engine, const std::map<AscendString, AscendString>& options);
    void Finalize();

    /* Memory that this engine and those who connect to it may use. The same range again gives the same handle. */
    Status RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle);
    Status DeregisterMem(MemHandle mem_handle);

    /* One way: the other engine needs its own Connect to reach memory here. */
    Status Connect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);
    Status Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);

    /* All descriptors, in no order. A successful WRITE is in the other engine's memory. */
    Status TransferSync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                        int32_t timeout_in_millis = 1000);
    Status TransferAsync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                         const TransferArgs& optional_args, TransferReq& req);
    /* Never waits. The end of a request is told once; then its handle is gone. */
    Status GetTransferStatus(const TransferReq& req, TransferStatus& status);

    /* Returns when the other engine has it. */
    Status SendNotify(const AscendString& remote_engine, const NotifyDesc& notify, int32_t timeout_in_millis = 1000);
    Status GetNotifies(std::vector<NotifyDesc>& notifies);

    static Status GetCapability(FeatureType feature_type, int32_t& value);

    /* Memory that can be handed to other processes by its handle. */
    static Status MallocMem(MemType type, size_t size, void** ptr);
    static Status ExportToShareableHandle(void* ptr, ShareableHandle& handle);
    static Status FreeMem(void* ptr);

   private:
    class AdxlEngineImpl;
    std::unique_ptr<AdxlEngineImpl> impl_;
};

}  // namespace adxl

#endif /* RW_ADXL_ADXL_ENGINE_H */
