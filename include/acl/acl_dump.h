/* Place of the data dump API, which this library does not provide; aclmdlInitDump and its kin are in acl_rt.h. */
#ifndef RW_ACL_DUMP_H
#define RW_ACL_DUMP_H

#include "acl_base.h"
#include "acl_rt.h"

#endif /* RW_ACL_DUMP_H */
