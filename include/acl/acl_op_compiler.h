/* Options of the operator compiler, which are kept and handed out again. There is no compiler here. */
#ifndef RW_ACL_OP_COMPILER_H
#define RW_ACL_OP_COMPILER_H

#include "acl_base.h"
#include "acl_op.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclGraphDumpOption aclGraphDumpOption;

typedef enum aclCompileType { ACL_COMPILE_SYS = 0, ACL_COMPILE_UNREGISTERED = 1 } aclopCompileType;

typedef enum aclCompileFlag { ACL_OP_COMPILE_DEFAULT = 0, ACL_OP_COMPILE_FUZZ = 1 } aclOpCompileFlag;

typedef enum aclCompileOpt {
    ACL_PRECISION_MODE = 0,
    ACL_AICORE_NUM = 1,
    ACL_AUTO_TUNE_MODE = 2,
    ACL_OP_SELECT_IMPL_MODE = 3,
    ACL_OPTYPELIST_FOR_IMPLMODE = 4,
    ACL_OP_DEBUG_LEVEL = 5,
    ACL_DEBUG_DIR = 6,
    ACL_OP_COMPILER_CACHE_MODE = 7,
    ACL_OP_COMPILER_CACHE_DIR = 8,
    ACL_OP_PERFORMANCE_MODE = 9,
    ACL_OP_JIT_COMPILE = 10,
    ACL_OP_DETERMINISTIC = 11,
    ACL_CUSTOMIZE_DTYPES = 12,
    ACL_OP_PRECISION_MODE = 13,
    ACL_ALLOW_HF32 = 14,
    ACL_PRECISION_MODE_V2 = 15,
    ACL_OP_DEBUG_OPTION = 16
} aclCompileOpt;

/* ---- Options of the operator compiler. ---- */

/* A number that is no option, or NULL: 100000. Without a word from the program an option is "". */
RW_API aclError aclSetCompileopt(aclCompileOpt opt, const char* value);
/* Characters with the closing 0; 0 for a number that is no option. */
RW_API size_t aclGetCompileoptSize(aclCompileOpt opt);
/* length below that size: 100000. */
RW_API aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length);
RW_API aclGraphDumpOption* aclCreateGraphDumpOpt(void);
RW_API aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt);

/* ---- The compiler itself, which is not here: refused. ---- */

RW_API aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                             const aclTensorDesc* const outputDesc[], const aclopAttr* attr, aclopEngineType engineType,
                             aclopCompileType compileFlag, const char* opPath);
RW_API aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                       const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
                                       aclDataBuffer* const outputs[], const aclopAttr* attr, aclopEngineType engineType,
                                       aclopCompileType compileFlag, const char* opPath, aclrtStream stream);
RW_API aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                                         int numOutputs, aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr,
                                         aclopEngineType engineType, aclopCompileType compileFlag, const char* opPath, aclrtStream stream);
RW_API aclError aclopSetCompileFlag(aclOpCompileFlag flag);
RW_API aclError aclGenGraphAndDumpForOp(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                        const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
                                        aclDataBuffer* const outputs[], const aclopAttr* attr, aclopEngineType engineType,
                                        const char* graphDumpPath, const aclGraphDumpOption* graphDumpOpt);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_OP_COMPILER_H */
