// Host functions that stand in for kernels and operators, by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "ropeway/kernel.h"

namespace ropeway::api {

// A stand-in as launches have it: what is queued keeps it, whoever takes it back. The name stays for as long as the process.
struct StandIn {
  const char* name = nullptr;
  ropewayKernelFunc function = nullptr;
  explicit operator bool() const { return function != nullptr; }
};

// The process's. Never destroyed: static destructors take registrations back.
struct StandIns {
  static StandIns& All();

  Mutex mutex{LockRank::kStandIns};
  std::map<std::string, ropewayKernelFunc, std::less<>> kernels RW_GUARDED_BY(mutex);
  using Parameters = std::vector<ropewayKernelParameter>;
  std::map<std::string, Parameters, std::less<>> parameters RW_GUARDED_BY(mutex);  // of kernels that were described
  struct Operator {
    ropewayKernelFunc function;
    uint64_t workspace_size;
  };
  std::map<std::string, Operator, std::less<>> operators RW_GUARDED_BY(mutex);
  std::map<const void*, const void*> argument_lists RW_GUARDED_BY(mutex);  // that were begun, and the function that each belongs to

  StandIn Find(std::string_view name);
  std::optional<Parameters> FindParameters(std::string_view name);
  bool any();
};

// No stand-in has the name; the text says what there is instead.
Status UnknownKernel(const char* name);
Status UnknownOperator(const char* name);

}  // namespace ropeway::api
