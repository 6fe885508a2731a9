// acl.rt: events and notifies.
#include "keys.h"
#include "tables.h"

namespace ropeway::python {
namespace {

PyObject* NotifyBatchReset(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.notify_batch_reset";
  PyObject* list;
  std::vector<aclrtNotify> notifies;
  if (!ReadArguments<"O">(kPath, argv, count, list) || !ReadList<'P'>(kPath, "notifies", list, &notifies)) return nullptr;
  return ToPython(WithoutGil([&] { return aclrtNotifyBatchReset(notifies.data(), notifies.size()); }));
}

PyObject* NotifyGetExportKey(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.notify_get_export_key";
  aclrtNotify notify;
  size_t length;
  uint64_t flags;
  if (!ReadArguments<"PPQ">(kPath, argv, count, notify, length, flags)) return nullptr;
  return ExportKey(kPath, length, [&](char* key) { return aclrtNotifyGetExportKey(notify, key, length, flags); });
}

PyObject* NotifySetImportPid(PyObject*, Argv argv, Py_ssize_t count) {
  return WithPids<"acl.rt.notify_set_import_pid", 'P', aclrtNotify>(argv, count, &aclrtNotifySetImportPid);
}

}  // namespace

Table kEventFunctions[] = {
    RW_WAITING_PLAIN("acl.rt.create_event", aclrtCreateEvent, "(event, ret)", "An event with synchronisation and timestamp."),
    RW_WAITING("acl.rt.create_event_with_flag", aclrtCreateEventWithFlag, "U", "flag", "(event, ret)",
               "An event whose wait is a latch that reset_event sets back."),
    RW_WAITING("acl.rt.create_event_ex_with_flag", aclrtCreateEventExWithFlag, "U", "flag", "(event, ret)",
               "An event whose waits are bound to the record made before them; the one to use in captures."),
    RW_WAITING("acl.rt.destroy_event", aclrtDestroyEvent, "P", "event", "ret", "Ends an event; queued work keeps what it needs."),
    RW_WAITING("acl.rt.record_event", aclrtRecordEvent, "PP", "event, stream", "ret",
               "Marks the work that a stream has so far. The event comes first."),
    RW_WAITING("acl.rt.reset_event", aclrtResetEvent, "PP", "event, stream", "ret", "Sets an event back in stream order."),
    RW_WAITING("acl.rt.stream_wait_event", aclrtStreamWaitEvent, "PP", "stream, event", "ret",
               "Holds later work of a stream until the event's record is done. The stream comes first."),
    RW_CALL("acl.rt.query_event", aclrtQueryEvent, "P", "event", "(status, ret)", "0 complete, 1 not ready."),
    RW_CALL("acl.rt.query_event_status", aclrtQueryEventStatus, "P", "event", "(status, ret)",
            "0 not ready, 1 complete: the other way round than query_event."),
    RW_CALL("acl.rt.query_event_wait_status", aclrtQueryEventWaitStatus, "P", "event", "(status, ret)",
            "Whether the waits for an event are over: 0 complete, 1 not ready."),
    RW_WAITING("acl.rt.synchronize_event", aclrtSynchronizeEvent, "P", "event", "ret", "Waits for the latest record of an event."),
    RW_WAITING("acl.rt.synchronize_event_with_timeout", aclrtSynchronizeEventWithTimeout, "PI", "event, timeout_ms", "ret",
               "The same for at most so many milliseconds, -1 for ever; 507047 when the time is up."),
    RW_CALL("acl.rt.event_elapsed_time", aclrtEventElapsedTime, "PP", "start_event, end_event", "(ms: float, ret)",
            "Milliseconds between two records."),
    RW_CALL("acl.rt.event_get_timestamp", aclrtEventGetTimestamp, "P", "event", "(timestamp, ret)",
            "When the record was reached, in microseconds of the device."),
    RW_CALL("acl.rt.get_event_id", aclrtGetEventId, "P", "event", "(event_id, ret)", "The number of an event."),
    RW_CALL_PLAIN("acl.rt.get_event_avail_num", aclrtGetEventAvailNum, "(count, ret)", "How many events can still be created."),
    RW_CALL("acl.rt.set_op_wait_timeout", aclrtSetOpWaitTimeout, "U", "timeout_s", "ret",
            "Seconds that later waits of streams may take, 0 for ever."),

    RW_WAITING("acl.rt.create_notify", aclrtCreateNotify, "Q", "flag", "(notify, ret)", "A notify: one record releases one wait."),
    RW_WAITING("acl.rt.destroy_notify", aclrtDestroyNotify, "P", "notify", "ret", "Ends a notify."),
    RW_WAITING("acl.rt.record_notify", aclrtRecordNotify, "PP", "notify, stream", "ret", "Sets a notify in stream order."),
    RW_WAITING("acl.rt.wait_and_reset_notify", aclrtWaitAndResetNotify, "PPT", "notify, stream, timeout", "ret",
               "Holds a stream until the notify is set, and clears it. Seconds, 0 for ever."),
    RW_CALL("acl.rt.get_notify_id", aclrtGetNotifyId, "P", "notify", "(notify_id, ret)", "The number of a notify."),
    RW_SPECIAL("acl.rt.notify_batch_reset", &NotifyBatchReset, "notifies: list[int], /", "ret", "Clears a list of notifies, at once."),
    RW_SPECIAL("acl.rt.notify_get_export_key", &NotifyGetExportKey, "notify, len, flag, /", "(key: str, ret)",
               "A key by which another process can import the notify; len is the room for it, below 1024."),
    RW_SPECIAL("acl.rt.notify_set_import_pid", &NotifySetImportPid, "notify, pids: list[int], /", "ret",
               "The list of processes that may import the notify."),
    RW_WAITING("acl.rt.notify_import_by_key", aclrtNotifyImportByKey, "SQ", "key, flag", "(notify, ret)", "A notify of another process."),
    {}};

}  // namespace ropeway::python
