// Our own additions to acl.rt and acl.mdl, for what the original module leaves to ctypes: batches of copies, host
// functions, captured graphs. They follow its conventions. ROPEWAY_PYTHON_EXTENSIONS=0 leaves them out.
#include "callbacks.h"
#include "dicts.h"
#include "tables.h"

namespace ropeway::python {
namespace {

// The lists of a batch: four of one length, attributes with the index of the item that each starts at.
struct Batch {
  std::vector<void*> destinations, sources;
  std::vector<size_t> destination_sizes, sizes, attribute_starts;
  std::vector<aclrtMemcpyBatchAttr> attributes;

  // The lists are the first six arguments.
  bool Read(const char* path, Argv argv) {
    return ReadList<'P'>(path, "dsts", argv[0], &destinations) && ReadList<'P'>(path, "dest_maxs", argv[1], &destination_sizes) &&
           ReadList<'P'>(path, "srcs", argv[2], &sources) && ReadList<'P'>(path, "sizes", argv[3], &sizes) &&
           ReadStructures(path, "attrs", argv[4], &ReadBatchAttribute, &attributes) &&
           ReadList<'P'>(path, "attrs_indexes", argv[5], &attribute_starts) && RequireEqualLengths(path);
  }

  bool RequireEqualLengths(const char* path) const {
    const size_t length = destinations.size();
    if (destination_sizes.size() == length && sources.size() == length && sizes.size() == length &&
        attribute_starts.size() == attributes.size())
      return true;
    PyErr_Format(PyExc_ValueError,
                 "%s: the lists have unequal lengths (dsts %zu, dest_maxs %zu, srcs %zu, sizes %zu; attrs %zu, "
                 "attrs_indexes %zu)",
                 path, length, destination_sizes.size(), sources.size(), sizes.size(), attributes.size(), attribute_starts.size());
    return false;
  }

  // C function of the lists and what else it takes; (fail_index, ret).
  template <typename... More>
  PyObject* Run(int (*function)(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*, size_t*, size_t, size_t*, More...),
                More... more) {
    size_t fail_index = 0;
    const int code = WithoutGil([&] {
      return function(destinations.data(), destination_sizes.data(), sources.data(), sizes.data(), sizes.size(), attributes.data(),
                      attribute_starts.data(), attributes.size(), &fail_index, more...);
    });
    return Tuple(ToPython(fail_index), ToPython(code));
  }
};

PyObject* MemcpyBatch(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.memcpy_batch";
  constexpr Py_ssize_t kArguments = 6;
  Batch batch;
  if (count != kArguments) return WrongCount(kPath, kArguments, count);
  return batch.Read(kPath, argv) ? batch.Run(&aclrtMemcpyBatch) : nullptr;
}

PyObject* MemcpyBatchAsync(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.memcpy_batch_async";
  constexpr Py_ssize_t kArguments = 7;
  Batch batch;
  aclrtStream stream;
  if (count != kArguments) return WrongCount(kPath, kArguments, count);
  if (!ConvertAt<'P'>(kPath, kArguments, argv, stream) || !batch.Read(kPath, argv)) return nullptr;
  return batch.Run(&aclrtMemcpyBatchAsync, stream);
}

PyObject* LaunchHostFunc(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.launch_host_func";
  aclrtStream stream;
  PyObject *function, *data;
  if (!ReadArguments<"POO">(kPath, argv, count, stream, function, data) || !RequireCallable(kPath, function)) return nullptr;
  void* number = KeepCallback(function, data, stream);
  const int code = WithoutGil([&] { return aclrtLaunchHostFunc(stream, &RunCallback, number); });
  SettleCallback(number, stream, code);
  return ToPython(code);
}

}  // namespace

#define RW_OURS "An addition of Ropeway; the original module does not have it. "

Table kRtExtensions[] = {
    RW_SPECIAL("acl.rt.memcpy_batch", &MemcpyBatch,
               "dsts: list[int], dest_maxs: list[int], srcs: list[int], sizes: list[int], attrs: list[dict], "
               "attrs_indexes: list[int], /",
               "(fail_index, ret)",
               RW_OURS "Copies lists of blocks now; attrs is a list of {dstLoc: {id, type}, srcLoc: {id, type}}, each in force from "
                       "the item in attrs_indexes on. C function: aclrtMemcpyBatch."),
    RW_SPECIAL("acl.rt.memcpy_batch_async", &MemcpyBatchAsync,
               "dsts: list[int], dest_maxs: list[int], srcs: list[int], sizes: list[int], attrs: list[dict], "
               "attrs_indexes: list[int], stream, /",
               "(fail_index, ret)",
               RW_OURS "Queues copies of lists of blocks as one task, as memcpy_batch takes them. C function: "
                       "aclrtMemcpyBatchAsync."),
    RW_SPECIAL("acl.rt.launch_host_func", &LaunchHostFunc, "stream, fn: Callable[[Any], object], args: Any, /", "ret",
               RW_OURS "Queues fn(args) in a stream, which waits for it; it runs on a thread of the library, without a context. C "
                       "function: aclrtLaunchHostFunc."),
    {}};

Table kMdlExtensions[] = {
    RW_WAITING("acl.mdl.ri_capture_begin", aclmdlRICaptureBegin, "PI", "stream, mode", "ret",
               RW_OURS "From now on work on the stream is stored, not run; mode 0 global, 1 thread, 2 relaxed."),
    RW_CALL("acl.mdl.ri_capture_get_info", aclmdlRICaptureGetInfo, "P", "stream", "(status, model_ri, ret)",
            RW_OURS "Whether the stream is being captured: 0 no, 1 yes, 2 broken."),
    RW_WAITING("acl.mdl.ri_capture_end", aclmdlRICaptureEnd, "P", "stream", "(model_ri, ret)", RW_OURS "Ends a capture."),
    RW_WAITING("acl.mdl.ri_execute_async", aclmdlRIExecuteAsync, "PP", "model_ri, stream", "ret",
               RW_OURS "Queues one replay of a captured graph."),
    RW_WAITING("acl.mdl.ri_destroy", aclmdlRIDestroy, "P", "model_ri", "ret", RW_OURS "Ends a captured graph."),
    {}};

}  // namespace ropeway::python
