// acl.rt: copies, fills, reductions, descriptors and values in device memory.
#include "tables.h"

namespace ropeway::python {
namespace {

// The descriptor's address comes back in front of the code.
PyObject* SetMemcpyDesc(PyObject*, Argv argv, Py_ssize_t count) {
  void *descriptor, *source, *destination, *config;
  aclrtMemcpyKind kind;
  size_t bytes;
  if (!ReadArguments<"PIPPPP">("acl.rt.set_memcpy_desc", argv, count, descriptor, kind, source, destination, bytes, config)) return nullptr;
  const int code = WithoutGil([&] { return aclrtSetMemcpyDesc(descriptor, kind, source, destination, bytes, config); });
  return Tuple(ToPython(descriptor), ToPython(code));
}

}  // namespace

Table kCopyFunctions[] = {
    RW_WAITING("acl.rt.memcpy", aclrtMemcpy, "PPPPI", "dst, dest_max, src, count, kind", "ret",
               "Copies now, without regard to any stream. The direction comes from the addresses."),
    RW_WAITING("acl.rt.memcpy_async", aclrtMemcpyAsync, "PPPPIP", "dst, dest_max, src, count, kind, stream", "ret",
               "Queues a copy. With pageable host memory (numpy, bytes) the call returns when the copy is done."),
    RW_WAITING("acl.rt.memcpy_async_with_condition", aclrtMemcpyAsyncWithCondition, "PPPPIP", "dst, dest_max, src, count, kind, stream",
               "ret", "The same as memcpy_async."),
    RW_WAITING("acl.rt.memcpy2d", aclrtMemcpy2d, "PPPPPPI", "dst, dpitch, src, spitch, width, height, kind", "ret",
               "Copies height rows of width bytes now."),
    RW_WAITING("acl.rt.memcpy2d_async", aclrtMemcpy2dAsync, "PPPPPPIP", "dst, dpitch, src, spitch, width, height, kind, stream", "ret",
               "Queues a copy of rows."),
    RW_CALL("acl.rt.get_memcpy_desc_size", aclrtGetMemcpyDescSize, "I", "kind", "(desc_size, ret)",
            "Bytes of device memory that a descriptor takes; kind 6 only."),
    RW_SPECIAL("acl.rt.set_memcpy_desc", &SetMemcpyDesc, "desc, kind, src_addr, dst_addr, count, config, /", "(desc, ret)",
               "Writes a copy descriptor into device memory. The source comes before the destination; config is 0. C "
               "function: "
               "aclrtSetMemcpyDesc."),
    RW_WAITING("acl.rt.memcpy_async_with_desc", aclrtMemcpyAsyncWithDesc, "PIP", "desc, kind, stream", "ret",
               "Queues the copy that a descriptor describes when the task runs."),
    RW_WAITING("acl.rt.memset", aclrtMemset, "PPIP", "dev_ptr, max_count, value, count", "ret", "Sets bytes now."),
    RW_WAITING("acl.rt.memset_async", aclrtMemsetAsync, "PPIPP", "dev_ptr, max_count, value, count, stream", "ret",
               "Sets bytes in stream order."),
    RW_WAITING("acl.rt.reduce_async", aclrtReduceAsync, "PPPIIPP", "dst, src, count, kind, data_type, stream, reserve", "ret",
               "dst = dst op src in stream order; count in bytes, reserve 0."),
    RW_WAITING("acl.rt.cmo_async", aclrtCmoAsync, "PPIP", "src, size, cmo_type, stream", "ret",
               "Cache maintenance in stream order, without effect on data."),
    RW_WAITING("acl.rt.value_write", aclrtValueWrite, "PPUP", "dev_addr, value, flag, stream", "ret",
               "Stores 64 bits in stream order; flag 0."),
    RW_WAITING("acl.rt.value_wait", aclrtValueWait, "PPUP", "dev_addr, value, flag, stream", "ret",
               "Holds a stream until 64 bits meet a condition: 0 at least, 1 equal, 2 and, 3 nor."),
    {}};

}  // namespace ropeway::python
