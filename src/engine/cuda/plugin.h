// What libropeway_cuda.so offers, and all that the rest of Ropeway knows of CUDA. Both sides are built together; the version guards
// against a plugin that was left behind by another build.
#pragma once

#include <cstddef>

#include "engine/backend.h"

namespace ropeway::cuda {

struct Plugin {
  static constexpr int kVersion = 2;
  static constexpr const char* kSymbol = "ropeway_cuda_plugin";
  int version;
  // GPUs that can be used; 0, and `why` says what is in the way.
  int (*count_gpus)(char* why, size_t why_size);
  // Name, memory and driver of a GPU, for people.
  void (*describe_gpu)(int gpu, char* text, size_t text_size);
  size_t (*gpu_memory)(int gpu);
  Backend* (*create)(WorkSharer& sharer, unsigned ctas);
};

}  // namespace ropeway::cuda
