/* A program's own profiler: records of what happened, and callbacks around calls. docs/profiling.md says what is true in them. */
#ifndef RW_MSPTI_H
#define RW_MSPTI_H

#include "mspti_activity.h"
#include "mspti_callback.h"
#include "mspti_cbid.h"
#include "mspti_result.h"

#endif /* RW_MSPTI_H */
