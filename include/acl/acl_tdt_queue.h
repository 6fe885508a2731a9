/* Place of the message queue API, which this library does not provide; message buffers are declared in acl_rt.h. */
#ifndef RW_ACL_TDT_QUEUE_H
#define RW_ACL_TDT_QUEUE_H

#include "acl_base.h"
#include "acl_rt.h"

#endif /* RW_ACL_TDT_QUEUE_H */
