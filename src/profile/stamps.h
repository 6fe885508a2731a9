// Marks of aclprof: stamps, which carry a text, and the ranges that they open. -1 is aclprof's own way to say no.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::stamps {

inline constexpr int kNo = -1;
inline constexpr size_t kLongestText = 127;

// Null: nobody collects marks, or a hundred are alive.
void* Create();
void Destroy(void* stamp);
// The rest: 0 or kNo.
int SetText(void* stamp, const char* text, size_t length);
int Set(void* stamp);
int Push(void* stamp);
int Pop();
int Start(void* stamp, uint32_t* range);
int Stop(uint32_t range);

}  // namespace ropeway::stamps
