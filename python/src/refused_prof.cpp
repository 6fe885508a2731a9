// acl.prof: the vendor's profiler. Ropeway writes traces of its own instead; the module refuses by itself. The argument
// lists are not known here, so anything is taken, and what comes back has the shape that the C functions suggest.
#include "tables.h"

namespace ropeway::python {
namespace {

constexpr char kNoProfiler[] = "the vendor's profiler is not part of this; ROPEWAY_TRACE=file writes a trace of all work";

}  // namespace

Table kProfFunctions[] = {
    RW_REFUSED("acl.prof.create_config", kNoProfiler, "*", "*args", "handle", "Settings of the profiler."),
    RW_REFUSED("acl.prof.destroy_config", kNoProfiler, "*", "*args", "ret", "Ends settings of the profiler."),
    RW_REFUSED("acl.prof.init", kNoProfiler, "*", "*args", "ret", "Prepares the profiler."),
    RW_REFUSED("acl.prof.finalize", kNoProfiler, "*", "*args", "ret", "Ends the profiler."),
    RW_REFUSED("acl.prof.start", kNoProfiler, "*", "*args", "ret", "Starts the profiler."),
    RW_REFUSED("acl.prof.stop", kNoProfiler, "*", "*args", "ret", "Stops the profiler."),
    RW_REFUSED("acl.prof.model_subscribe", kNoProfiler, "*", "*args", "ret", "Subscribes to the operators of a model."),
    RW_REFUSED("acl.prof.model_un_subscribe", kNoProfiler, "*", "*args", "ret", "Ends model_subscribe."),
    RW_REFUSED("acl.prof.model_unsubscribe", kNoProfiler, "*", "*args", "ret", "Ends model_subscribe."),
    RW_REFUSED("acl.prof.create_subscribe_config", kNoProfiler, "*", "*args", "handle", "Settings of a subscription."),
    RW_REFUSED("acl.prof.destroy_subscribe_config", kNoProfiler, "*", "*args", "ret", "Ends settings of a subscription."),
    RW_REFUSED("acl.prof.get_op_desc_size", kNoProfiler, "*", "*args", "(size, ret)", "Bytes of one operator's record."),
    RW_REFUSED("acl.prof.get_op_num", kNoProfiler, "*", "*args", "(num, ret)", "The number of operators in a record."),
    RW_REFUSED("acl.prof.get_op_type", kNoProfiler, "*", "*args", "(name: str, ret)", "The type of an operator."),
    RW_REFUSED("acl.prof.get_op_name", kNoProfiler, "*", "*args", "(name: str, ret)", "The name of an operator."),
    RW_REFUSED("acl.prof.get_op_type_v2", kNoProfiler, "*", "*args", "(name: str, ret)", "The type of an operator."),
    RW_REFUSED("acl.prof.get_op_name_v2", kNoProfiler, "*", "*args", "(name: str, ret)", "The name of an operator."),
    RW_REFUSED("acl.prof.get_op_start", kNoProfiler, "*", "*args", "int", "When an operator started."),
    RW_REFUSED("acl.prof.get_op_end", kNoProfiler, "*", "*args", "int", "When an operator ended."),
    RW_REFUSED("acl.prof.get_op_duration", kNoProfiler, "*", "*args", "int", "How long an operator took."),
    RW_REFUSED("acl.prof.get_model_id", kNoProfiler, "*", "*args", "int", "The model of an operator."),
    RW_REFUSED("acl.prof.get_op_type_len", kNoProfiler, "*", "*args", "(len, ret)", "Length of the type of an operator."),
    RW_REFUSED("acl.prof.get_op_name_len", kNoProfiler, "*", "*args", "(len, ret)", "Length of the name of an operator."),
    RW_REFUSED("acl.prof.get_step_timestamp", kNoProfiler, "*", "*args", "ret", "Marks a step."),
    RW_REFUSED("acl.prof.create_step_info", kNoProfiler, "*", "*args", "handle", "Facts about steps."),
    RW_REFUSED("acl.prof.destroy_step_info", kNoProfiler, "*", "*args", "None", "Ends facts about steps."),
    RW_REFUSED("acl.prof.create_stamp", kNoProfiler, "*", "*args", "handle", "A stamp."),
    RW_REFUSED("acl.prof.destroy_stamp", kNoProfiler, "*", "*args", "None", "Ends a stamp."),
    RW_REFUSED("acl.prof.push", kNoProfiler, "*", "*args", "ret", "Opens a range."),
    RW_REFUSED("acl.prof.pop", kNoProfiler, "*", "*args", "ret", "Closes a range."),
    RW_REFUSED("acl.prof.range_start", kNoProfiler, "*", "*args", "(range_id, ret)", "Opens a range."),
    RW_REFUSED("acl.prof.range_stop", kNoProfiler, "*", "*args", "ret", "Closes a range."),
    RW_REFUSED("acl.prof.set_stamp_trace_message", kNoProfiler, "*", "*args", "ret", "A text for a stamp."),
    RW_REFUSED("acl.prof.mark", kNoProfiler, "*", "*args", "ret", "Marks a point in time."),
    RW_REFUSED("acl.prof.mark_ex", kNoProfiler, "*", "*args", "ret", "Marks a point of a stream."),
    RW_REFUSED("acl.prof.set_config", kNoProfiler, "*", "*args", "ret", "Sets an option of the profiler."),
    {}};

}  // namespace ropeway::python
