// The function tables of the module, each defined in the file that its comment names, and the submodules they belong
// to.
#pragma once

#include "table.h"

namespace ropeway::python {

// acl
extern Table kTopFunctions[];         // top.cpp
extern Table kTensorDescFunctions[];  // tensor_desc.cpp
// acl.rt
extern Table kDeviceFunctions[];     // rt_device.cpp
extern Table kStreamFunctions[];     // rt_stream.cpp
extern Table kEventFunctions[];      // rt_event.cpp
extern Table kCallbackFunctions[];   // rt_callback.cpp
extern Table kMemoryFunctions[];     // rt_memory.cpp
extern Table kCopyFunctions[];       // rt_copy.cpp
extern Table kShareFunctions[];      // rt_share.cpp
extern Table kAllocatorFunctions[];  // rt_allocator.cpp
extern Table kKernelFunctions[];     // rt_kernel.cpp
// acl.mdl, acl.media, acl.op, acl.blas, acl.prof
extern Table kDatasetFunctions[];  // dataset.cpp
extern Table kModelFunctions[];    // refused_model.cpp
extern Table kMediaFunctions[];    // media.cpp
extern Table kOpFunctions[];       // refused_op.cpp
extern Table kBlasFunctions[];     // refused_op.cpp
extern Table kProfFunctions[];     // refused_prof.cpp
// acl.util
extern Table kUtilFunctions[];    // util.cpp
extern Table kThreadFunctions[];  // threads.cpp

// Our own additions, which the original module does not have.
extern Table kRtExtensions[];   // extensions.cpp
extern Table kMdlExtensions[];  // extensions.cpp

}  // namespace ropeway::python
