/* The other name of acl_sk.h. */
#ifndef RW_ACL_SUPER_KERNEL_H
#define RW_ACL_SUPER_KERNEL_H

#include "acl_sk.h"

#endif /* RW_ACL_SUPER_KERNEL_H */
