/* The whole API in one include. */
#ifndef RW_ACL_H
#define RW_ACL_H

#include "acl_mdl.h"
#include "acl_op.h"
#include "acl_rt.h"

#endif /* RW_ACL_H */
