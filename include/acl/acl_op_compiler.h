/* Place of the operator compiler API, which this library does not provide. */
#ifndef RW_ACL_OP_COMPILER_H
#define RW_ACL_OP_COMPILER_H

#include "acl_base.h"
#include "acl_op.h"

#endif /* RW_ACL_OP_COMPILER_H */
