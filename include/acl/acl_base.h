/* Base types and error codes: acl_base_rt.h, and the tensor words of acl_base_mdl.h. */
#ifndef RW_ACL_BASE_H
#define RW_ACL_BASE_H

#include "acl_base_mdl.h"
#include "acl_base_rt.h"

#endif /* RW_ACL_BASE_H */
