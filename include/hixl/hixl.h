/*
 * Hixl: memory of other engines, read and written without their doing. An engine has a name, "ip:port" or "[v6]:port", at which it
 * listens; without a port it only connects. Both sides register memory, one connects to the other by its name, and transfers go
 * between local and remote addresses. Any thread may call anything but Initialize and Finalize, which nobody else may accompany.
 * Needs a device (aclrtSetDevice). Library: libcann_hixl.so. C++.
 */
#ifndef RW_HIXL_HIXL_H
#define RW_HIXL_HIXL_H

#include <map>
#include <memory>
#include <vector>

#include "hixl_types.h"

namespace hixl {

class ASCEND_FUNC_VISIBILITY Hixl {
   public:
    Hixl();
    ~Hixl();

    Status Initialize(const AscendString& local_engine, const std::map<AscendString, AscendString>& options);
    void Finalize();

    /* Memory that this engine and those who connect to it may use. The same range again gives the same handle. */
    Status RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle);
    Status DeregisterMem(MemHandle mem_handle);

    /* One way: the other engine needs its own Connect to reach memory here. */
    Status Connect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);
    Status Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);

    /* The same by a few threads of the engine; how far it is, the status says. */
    Status ConnectAsync(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);
    Status DisconnectAsync(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);
    Status GetAsyncConnectStatus(const AscendString& remote_engine, AsyncConnectStatus& connect_status);
    Status GetAsyncConnectStatus(std::map<AscendString, AsyncConnectStatus>& connect_status);

    /* All descriptors, in no order. A successful WRITE is in the other engine's memory. */
    Status TransferSync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                        int32_t timeout_in_millis = 1000);
    Status TransferAsync(const AscendString& remote_engine, TransferOp operation, const std::vector<TransferOpDesc>& op_descs,
                         const TransferArgs& optional_args, TransferReq& req);
    /* Never waits. The end of a request is told once; then its handle is gone. */
    Status GetTransferStatus(const TransferReq& req, TransferStatus& status);
    Status GetTransferStatus(const GetTransferStatusArgs& args, std::vector<TransferResult>& results);

    /* Returns when the other engine has it. */
    Status SendNotify(const AscendString& remote_engine, const NotifyDesc& notify, int32_t timeout_in_millis = 1000);
    Status GetNotifies(std::vector<NotifyDesc>& notifies);

    static Status GetCapability(FeatureType feature_type, int32_t& value);

   private:
    class HixlImpl;
    std::unique_ptr<HixlImpl> impl_;
};

}  // namespace hixl

#endif /* RW_HIXL_HIXL_H */
