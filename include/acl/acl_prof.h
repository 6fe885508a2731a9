/* Place of the profiling API, which this library does not provide. */
#ifndef RW_ACL_PROF_H
#define RW_ACL_PROF_H

#include "acl_base.h"
#include "acl_rt.h"

#endif /* RW_ACL_PROF_H */
