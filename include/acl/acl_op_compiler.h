/* Options of the operator compiler, which are kept and handed out again. There is no compiler here. */
#ifndef RW_ACL_OP_COMPILER_H
#define RW_ACL_OP_COMPILER_H

#include "acl_base.h"
#include "acl_op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aclCompileType { ACL_COMPILE_SYS, ACL_COMPILE_UNREGISTERED } aclopCompileType;
typedef enum aclCompileFlag { ACL_OP_COMPILE_DEFAULT, ACL_OP_COMPILE_FUZZ } aclOpCompileFlag;
typedef enum {
    ACL_PRECISION_MODE,
    ACL_AICORE_NUM,
    ACL_AUTO_TUNE_MODE,
    ACL_OP_SELECT_IMPL_MODE,
    ACL_OPTYPELIST_FOR_IMPLMODE,
    ACL_OP_DEBUG_LEVEL,
    ACL_DEBUG_DIR,
    ACL_OP_COMPILER_CACHE_MODE,
    ACL_OP_COMPILER_CACHE_DIR,
    ACL_OP_PERFORMANCE_MODE,
    ACL_OP_JIT_COMPILE,
    ACL_OP_DETERMINISTIC,
    ACL_CUSTOMIZE_DTYPES,
    ACL_OP_PRECISION_MODE,
    ACL_ALLOW_HF32,
    ACL_PRECISION_MODE_V2,
    ACL_OP_DEBUG_OPTION
} aclCompileOpt;

typedef struct aclGraphDumpOption aclGraphDumpOption;

/* ---- Options of the operator compiler. ---- */

/* A number that is no option, or NULL: 100000. Without a word from the program an option is "". */
RW_API aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
/* Characters with the closing 0; 0 for a number that is no option. */
RW_API size_t aclGetCompileoptSize(aclCompileOpt opt);
/* length below that size: 100000. */
RW_API aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);
RW_API aclGraphDumpOption* aclCreateGraphDumpOpt(void);
RW_API aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_OP_COMPILER_H */
