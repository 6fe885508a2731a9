/*
 * hccl::DeviceMem: a range of device memory, with or without the duty to free it. C++.
 */
#ifndef RW_MEM_DEVICE_PUB_H
#define RW_MEM_DEVICE_PUB_H

#include "hccl_common.h"

namespace hccl {

/*
 * Copies never own; a move takes the duty along. Assignments do not free what the left side owned: free it first.
 */
class RW_API DeviceMem {
   public:
    explicit DeviceMem() = default;
    explicit DeviceMem(void* ptr, u64 size, bool owner = false);
    DeviceMem(const DeviceMem& that);
    DeviceMem(DeviceMem&& that) noexcept;
    ~DeviceMem();

    DeviceMem& operator=(const DeviceMem& that);
    DeviceMem operator=(DeviceMem&& that);

    /* On failure ptr() is NULL although size() is what was asked for. level2Address: memory for addresses, the same here. */
    static DeviceMem alloc(u64 size, bool level2Address = false);
    /* HCCL_E_OOM or HCCL_E_RUNTIME on failure; mem is then left alone. */
    static HcclResult alloc(DeviceMem& mem, u64 size, bool level2Address = false);
    /* A view that does not own. */
    static DeviceMem create(void* ptr, u64 size);

    /* Frees if this object owns; ptr() is NULL afterwards, size() stays. */
    void free();
    /* A view of a part; empty when the part is not inside. */
    DeviceMem range(u64 offset, u64 size) const;

    void* ptr() const { return ptr_; }
    u64 size() const { return size_; }
    operator bool() const { return ptr_ != nullptr; }
    bool operator==(const DeviceMem& that) const { return ptr_ == that.ptr_ && size_ == that.size_; }
    bool operator!=(const DeviceMem& that) const { return !(*this == that); }

    void* ptr_ = nullptr;

   private:
    u64 size_ = 0;
    bool owner_ = false;
};

}  // namespace hccl

#endif /* RW_MEM_DEVICE_PUB_H */
