#include "runtime/engine_choice.h"

#include <dlfcn.h>

#include <stdexcept>

#include "engine/cpu/cpu_engine.h"
#include "engine/cuda/plugin.h"
#include "engine/sched/lane_engine.h"

namespace ropeway {
namespace {

// Of a GPU's memory, what the driver and its contexts do not need.
constexpr double kUsableMemory = 0.97;

std::string& Reason() {
  static auto* reason = new std::string("cpu: the settings ask for it");
  return *reason;
}

// Beside this library; null, and `why` says so, when it was not built.
const cuda::Plugin* FindPlugin(std::string* why) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&ChooseEngine), &here) == 0) return nullptr;
  std::string path(here.dli_fname);
  path = path.substr(0, path.rfind('/') + 1) + "libropeway_cuda.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = library == nullptr ? nullptr : static_cast<const cuda::Plugin*>(dlsym(library, cuda::Plugin::kSymbol));
  if (plugin != nullptr && plugin->version == cuda::Plugin::kVersion) return plugin;
  *why = library == nullptr ? "libropeway_cuda.so is not beside the library (built where nvcc is)"
                            : "libropeway_cuda.so belongs to another build";
  return nullptr;
}

const cuda::Plugin* ThePlugin(std::string* why) {
  static std::string reason;
  static const cuda::Plugin* plugin = FindPlugin(&reason);
  *why = reason;
  return plugin;
}

void UseGpus(const cuda::Plugin& plugin, int gpus, Config& config) {
  char text[256];
  plugin.describe_gpu(0, text, sizeof(text));
  Reason() = "cuda: " + std::to_string(gpus) + " x " + text;
  config.engine = "cuda";
  if (!config.devices_set) config.devices = gpus;
  if (!config.device_memory_set) {
    // Devices that share a GPU share its memory.
    const auto per_device = static_cast<double>(plugin.gpu_memory(0)) * kUsableMemory / ((config.devices + gpus - 1) / gpus);
    config.device_memory = static_cast<size_t>(per_device) >> 21 << 21;
  }
}

// Before main, so that whoever asks for a setting first gets the completed ones.
[[gnu::constructor]] void Install() { g_complete_config = &ChooseEngine; }

}  // namespace

void ChooseEngine(Config& config) {
  if (config.engine == "cpu") return;
  std::string why;
  const cuda::Plugin* plugin = ThePlugin(&why);
  char text[256] = "";
  const int gpus = plugin == nullptr ? 0 : plugin->count_gpus(text, sizeof(text));
  if (gpus > 0) return UseGpus(*plugin, gpus, config);
  if (plugin != nullptr) why = text;
  Reason() = "cpu: " + why;
  if (config.engine == "cuda") config.complaints.push_back("ROPEWAY_ENGINE=cuda cannot be had, so the CPU engine runs: " + why);
  config.engine = "cpu";
}

const std::string& EngineReason() {
  GetConfig();
  return Reason();
}

std::unique_ptr<Engine> CreateEngine(const Config& config) {
  if (config.engine != "cuda") return cpu::CreateCpuEngine(config);
  return sched::CreateLaneEngine(config, [&](WorkSharer& sharer) {
    std::string why;
    std::unique_ptr<Backend> backend(ThePlugin(&why)->create(sharer, config));
    if (backend == nullptr) throw std::runtime_error("the GPU cannot be set up; is it in use by another program? ROPEWAY_ENGINE=cpu works without");
    return backend;
  });
}

}  // namespace ropeway
