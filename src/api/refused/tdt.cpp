// Message buffers for queues between processes of a device: there is no such queue here.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoBuffers =
    "message buffers of device queues do not exist here; use aclrtMallocHost for memory that copies need";

}  // namespace

aclError aclrtAllocBuf(aclrtMbuf* buf, size_t) { return Refuse(__func__, kNoBuffers, {{"buf", buf}}); }

aclError aclrtFreeBuf(aclrtMbuf buf) { return Refuse(__func__, kNoBuffers, {{"buf", buf}}); }

aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t) { return Refuse(__func__, kNoBuffers, {{"buf", buf}}); }

aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len) {
  return Refuse(__func__, kNoBuffers, {{"buf", buf}, {"len", len}});
}

aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size) {
  return Refuse(__func__, kNoBuffers, {{"buf", buf}, {"dataPtr", dataPtr}, {"size", size}});
}

aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t, size_t) {
  return Refuse(__func__, kNoBuffers, {{"buf", buf}, {"dataPtr", dataPtr}});
}

aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t, size_t) {
  return Refuse(__func__, kNoBuffers, {{"buf", buf}, {"dataPtr", dataPtr}});
}

aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf) {
  return Refuse(__func__, kNoBuffers, {{"buf", buf}, {"newBuf", newBuf}});
}

aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf) {
  return Refuse(__func__, kNoBuffers, {{"headBuf", headBuf}, {"buf", buf}});
}

aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num) {
  return Refuse(__func__, kNoBuffers, {{"headBuf", headBuf}, {"num", num}});
}

aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t, aclrtMbuf* buf) {
  return Refuse(__func__, kNoBuffers, {{"headBuf", headBuf}, {"buf", buf}});
}
