// acl.op and acl.blas: operators. Nothing here executes them; the module refuses by itself.
#include "tables.h"

namespace ropeway::python {
namespace {

constexpr char kNoOperators[] = "operators cannot run here; launch a host function in their place (acl.rt.launch_callback)";

}  // namespace

Table kOpFunctions[] = {
    RW_REFUSED("acl.op.set_model_dir", kNoOperators, "S", "path, /", "ret", "Where operator models lie."),
    RW_REFUSED("acl.op.load", kNoOperators, "PP", "model, size, /", "ret", "Loads an operator model."),
    RW_REFUSED("acl.op.execute", kNoOperators, "SllllPP", "op_type, input_desc, inputs, output_desc, outputs, attr, stream, /", "ret",
               "Queues an operator."),
    RW_REFUSED("acl.op.execute_v2", kNoOperators, "SllllPP", "op_type, input_desc, inputs, output_desc, outputs, attr, stream, /", "ret",
               "Queues an operator whose outputs are sized by it."),
    RW_REFUSED("acl.op.execute_with_handle", kNoOperators, "PllP", "handle, inputs, outputs, stream, /", "ret",
               "Queues an operator by its handle."),
    RW_REFUSED("acl.op.create_handle", kNoOperators, "SllP", "op_type, input_desc, output_desc, attr, /", "(handle, ret)",
               "A handle of an operator."),
    RW_REFUSED("acl.op.destroy_handle", kNoOperators, "P", "handle, /", "None", "Ends a handle of an operator."),
    RW_REFUSED("acl.op.cast", kNoOperators, "PPPPBP", "src_desc, src_buffer, dst_desc, dst_buffer, truncate, stream, /", "ret",
               "Queues a conversion of data types."),
    RW_REFUSED("acl.op.create_handle_for_cast", kNoOperators, "PPB", "src_desc, dst_desc, truncate, /", "(handle, ret)",
               "A handle of a conversion."),
    RW_REFUSED("acl.op.create_attr", kNoOperators, "", "*ignored", "handle", "A list of attributes."),
    RW_REFUSED("acl.op.destroy_attr", kNoOperators, "P", "attr, /", "None", "Ends a list of attributes."),
    RW_REFUSED("acl.op.set_attr_bool", kNoOperators, "PSB", "attr, name, value, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_int", kNoOperators, "PSL", "attr, name, value, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_float", kNoOperators, "PSF", "attr, name, value, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_string", kNoOperators, "PSS", "attr, name, value, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_bool", kNoOperators, "PSO", "attr, name, values: list, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_int", kNoOperators, "PSO", "attr, name, values: list, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_float", kNoOperators, "PSO", "attr, name, values: list, /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_string", kNoOperators, "PSl", "attr, name, values: list[str], /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_list_int", kNoOperators, "PSl", "attr, name, values: list[list[int]], /", "ret", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_data_type", kNoOperators, "PSI", "attr, name, value, /", "(attr, ret)", "Sets an attribute."),
    RW_REFUSED("acl.op.set_attr_list_data_type", kNoOperators, "PSl", "attr, name, values: list[int], /", "(attr, ret)",
               "Sets an attribute."),
    RW_REFUSED("acl.op.infer_shape", kNoOperators, "SllIlP", "op_type, input_desc, inputs, num_outputs, output_desc, attr, /", "ret",
               "The shapes of an operator's outputs."),
    RW_REFUSED("acl.op.update_params", kNoOperators, "SllP", "op_type, input_desc, output_desc, attr, /", "ret", "Refreshes an operator."),
    RW_REFUSED("acl.op.start_dump_args", kNoOperators, "US", "dump_type, path, /", "ret", "Starts a dump of arguments."),
    RW_REFUSED("acl.op.stop_dump_args", kNoOperators, "U", "dump_type, /", "ret", "Ends a dump of arguments."),
    RW_REFUSED("acl.op.register_compile_func", kNoOperators, "Sc", "op_type, fn, /", "ret",
               "Has a function choose the kernel of an operator."),
    RW_REFUSED("acl.op.unregister_compile_func", kNoOperators, "S", "op_type, /", "ret", "Ends register_compile_func."),
    RW_REFUSED("acl.op.create_kernel", kNoOperators, "SSSPIII",
               "op_type, kernel_id, kernel_name, bin_data, bin_size, engine_type, deallocator, /", "ret", "Makes a kernel known."),
    RW_REFUSED("acl.op.set_kernel_args", kNoOperators, "PSUPU", "kernel_desc, kernel_id, block_dim, args, arg_size, /", "ret",
               "Arguments of a kernel."),
    RW_REFUSED("acl.op.set_kernel_workspace_sizes", kNoOperators, "PIP", "kernel_desc, num, sizes, /", "ret", "Workspaces of a kernel."),
    RW_REFUSED("acl.op.set_max_op_queue_num", kNoOperators, "Q", "num, /", "ret", "How many operators may be kept."),
    {}};

// The argument lists of these are not known here, so anything is taken.
Table kBlasFunctions[] = {
    RW_REFUSED("acl.blas.gemm_ex", kNoOperators, "*", "*args", "ret", "Product of two matrices."),
    RW_REFUSED("acl.blas.gemv_ex", kNoOperators, "*", "*args", "ret", "Product of a matrix and a vector."),
    RW_REFUSED("acl.blas.hgemm", kNoOperators, "*", "*args", "ret", "Product of two half-precision matrices."),
    RW_REFUSED("acl.blas.hgemv", kNoOperators, "*", "*args", "ret", "Product of a half-precision matrix and a vector."),
    RW_REFUSED("acl.blas.s8gemm", kNoOperators, "*", "*args", "ret", "Product of two int8 matrices."),
    RW_REFUSED("acl.blas.s8gemv", kNoOperators, "*", "*args", "ret", "Product of an int8 matrix and a vector."),
    RW_REFUSED("acl.blas.create_handle_for_gemm_ex", kNoOperators, "*", "*args", "(handle, ret)", "A handle of gemm_ex."),
    RW_REFUSED("acl.blas.create_handle_for_gemv_ex", kNoOperators, "*", "*args", "(handle, ret)", "A handle of gemv_ex."),
    RW_REFUSED("acl.blas.create_handle_for_hgemm", kNoOperators, "*", "*args", "(handle, ret)", "A handle of hgemm."),
    RW_REFUSED("acl.blas.create_handle_for_hgemv", kNoOperators, "*", "*args", "(handle, ret)", "A handle of hgemv."),
    RW_REFUSED("acl.blas.create_handle_for_s8gemm", kNoOperators, "*", "*args", "(handle, ret)", "A handle of s8gemm."),
    RW_REFUSED("acl.blas.create_handle_for_s8gemv", kNoOperators, "*", "*args", "(handle, ret)", "A handle of s8gemv."),
    {}};

}  // namespace ropeway::python
