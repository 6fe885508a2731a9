/* Place of the model API, which this library does not provide; models made by capture are in acl_rt.h. */
#ifndef RW_ACL_MDL_H
#define RW_ACL_MDL_H

#include "acl_base.h"
#include "acl_rt.h"

#endif /* RW_ACL_MDL_H */
