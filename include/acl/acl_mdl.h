/*
 * Datasets: lists of data buffers, which programs walk when they copy inputs and outputs. Models from files are not part of this library;
 * models made by capture are in acl_rt.h.
 */
#ifndef RW_ACL_MDL_H
#define RW_ACL_MDL_H

#include "acl_base.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclmdlDataset aclmdlDataset;

/* ---- Datasets. ---- */

RW_API aclmdlDataset* aclmdlCreateDataset(void);
/* The buffers stay: they are the program's. NULL: 100000. */
RW_API aclError aclmdlDestroyDataset(const aclmdlDataset* dataset);
RW_API aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer);
RW_API size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset);
/* NULL when there is none of that index. */
RW_API aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index);
/* The dataset keeps a copy of the descriptor. An index without a buffer: 100000. */
RW_API aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc, size_t index);
/* The dataset's own; NULL while none was set. */
RW_API aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_MDL_H */
