// Domains and ranges of mstx. Nothing fails here: what is wrong is ignored.
#pragma once

#include <cstdint>

#include "mstx/ms_tools_ext.h"

namespace ropeway::mstx {

// The domain that calls without one mean.
mstxDomainHandle_t DefaultDomain();
mstxDomainHandle_t CreateDomain(const char* name);
void DestroyDomain(mstxDomainHandle_t domain);

void MarkIn(mstxDomainHandle_t domain, const char* message, aclrtStream stream, const char* call);
// 0: nobody collects, or something was wrong.
mstxRangeId StartRange(mstxDomainHandle_t domain, const char* message, aclrtStream stream, const char* call);
void EndRange(mstxDomainHandle_t domain, mstxRangeId id, const char* call);

}  // namespace ropeway::mstx
