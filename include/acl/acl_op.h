/* Place of the single-operator API, which this library does not provide. */
#ifndef RW_ACL_OP_H
#define RW_ACL_OP_H

#include "acl_base.h"
#include "acl_rt.h"

#endif /* RW_ACL_OP_H */
