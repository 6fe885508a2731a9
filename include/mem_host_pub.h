/*
 * hccl::HostMem: a range of host memory, pinned or from the heap, with or without the duty to free it. C++.
 */
#ifndef RW_MEM_HOST_PUB_H
#define RW_MEM_HOST_PUB_H

#include "hccl_common.h"

namespace hccl {

/*
 * Copies never own; a move takes the duty along. Assignments do not free what the left side owned: free it first.
 */
class RW_API HostMem {
   public:
    explicit HostMem() = default;
    HostMem(const HostMem& that);
    HostMem(HostMem&& that) noexcept;
    ~HostMem();

    HostMem& operator=(const HostMem& that);
    HostMem operator=(HostMem&& that);

    /* isRtsMem: pinned memory of the runtime, else the heap. On failure ptr() is NULL although size() is what was asked for. */
    static HostMem alloc(u64 size, bool isRtsMem = true);
    /* A view that does not own, for pinned or any other memory. */
    static HostMem create(void* ptr, u64 size);

    /* Frees memory that alloc made EVEN IF this object does not own it; ptr() is NULL afterwards, size() stays. */
    void free();
    /* A view of a part; empty when the part is not inside. */
    HostMem range(u64 offset, u64 size) const;

    void* ptr() const { return ptr_; }
    u64 size() const { return size_; }
    operator bool() const { return ptr_ != nullptr; }
    bool operator==(const HostMem& that) const { return ptr_ == that.ptr_ && size_ == that.size_; }
    bool operator!=(const HostMem& that) const { return !(*this == that); }

    void* ptr_ = nullptr;

   private:
    enum class Source : u8 { kForeign, kPinned, kHeap };
    HostMem(void* ptr, u64 size, bool owner, Source source);

    u64 size_ = 0;
    bool owner_ = false;
    Source source_ = Source::kForeign;
};

}  // namespace hccl

#endif /* RW_MEM_HOST_PUB_H */
