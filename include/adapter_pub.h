/*
 * The name under which operator code includes the thin names over the runtime. C++.
 */
#ifndef RW_ADAPTER_PUB_H
#define RW_ADAPTER_PUB_H

#include "adapter_rts_common.h"

#endif /* RW_ADAPTER_PUB_H */
