// What the stand-in GPU runs: host code under the names of the engine's kernels.
#pragma once

#include <string_view>

// With the addresses of the arguments, as cuLaunchKernelEx has them.
using StandInKernel = void (*)(void** arguments);

// Null for a name that no image has.
StandInKernel FindKernel(std::string_view name);
