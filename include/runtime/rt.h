/* All older names of the runtime in one include. */
#ifndef RW_RUNTIME_RT_H
#define RW_RUNTIME_RT_H

#include "base.h"
#include "config.h"
#include "dev.h"
#include "kernel.h"
#include "mem.h"
#include "rt_external_event.h"
#include "rt_ffts.h"
#include "stream.h"

#endif /* RW_RUNTIME_RT_H */
