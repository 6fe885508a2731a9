/* Place of the data transfer API, which this library does not provide. */
#ifndef RW_ACL_TDT_H
#define RW_ACL_TDT_H

#include "acl_base.h"
#include "acl_tdt_queue.h"

#endif /* RW_ACL_TDT_H */
