/* Place of the platform queries, which this library does not provide; see aclrtGetDeviceInfo and aclrtGetSocName. */
#ifndef RW_ACL_PLATFORM_H
#define RW_ACL_PLATFORM_H

#include "acl_base.h"

#endif /* RW_ACL_PLATFORM_H */
