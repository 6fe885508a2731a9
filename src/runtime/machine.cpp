#include "runtime/machine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <functional>
#include <stdexcept>
#include <string_view>

#include "base/fork.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cuda/plugin.h"
#include "engine/sched/lane_engine.h"

namespace ropeway {
namespace {

// Of a GPU's memory, what the driver and its contexts do not need.
constexpr double kUsableMemory = 0.97;

// Beside this library; null, and `why` says so, when it was not built.
const cuda::Plugin* FindPlugin(std::string* why) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&CompleteConfig), &here) == 0) return nullptr;
  std::string path(here.dli_fname);
  path = path.substr(0, path.rfind('/') + 1) + "libropeway_cuda.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* plugin = library == nullptr ? nullptr : static_cast<const cuda::Plugin*>(dlsym(library, cuda::Plugin::kSymbol));
  if (plugin != nullptr && plugin->version == cuda::Plugin::kVersion) return plugin;
  const char* const error = library == nullptr && access(path.c_str(), F_OK) == 0 ? dlerror() : nullptr;
  *why = library != nullptr ? "libropeway_cuda.so belongs to another build"
         : error != nullptr ? std::string("libropeway_cuda.so cannot be loaded: ") + error
                            : "libropeway_cuda.so is not beside the library (built where nvcc is)";
  return nullptr;
}

const cuda::Plugin* ThePlugin(std::string* why) {
  static std::string reason;
  static const cuda::Plugin* plugin = FindPlugin(&reason);
  *why = reason;
  return plugin;
}

Gpus LookForGpus() {
  Gpus gpus;
  const cuda::Plugin* plugin = ThePlugin(&gpus.text);
  if (plugin == nullptr) return gpus;
  char text[256] = "";
  gpus.count = plugin->count_gpus(text, sizeof(text));
  if (gpus.count > 0) {
    plugin->describe_gpu(0, text, sizeof(text));
    gpus.memory = plugin->gpu_memory(0);
  }
  gpus.text = text;
  return gpus;
}

// Devices that share a GPU share its memory.
size_t ShareOfGpu(const Gpus& gpus, int devices) {
  const auto share = static_cast<double>(gpus.memory) * kUsableMemory / ((devices + gpus.count - 1) / gpus.count);
  return static_cast<size_t>(share) >> 21 << 21;
}

// rules/devices.md 9: digits between commas; reading stops at the first token that is not a known id; an order that does not
// rise makes nothing visible.
std::vector<int> ReadVisibleDevices(std::string_view text, int devices) {
  std::vector<int> visible;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    int id = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + comma, id);
    if (error != std::errc() || end != text.data() + comma || id < 0 || id >= devices) break;
    visible.push_back(id);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  const bool rising = std::adjacent_find(visible.begin(), visible.end(), std::greater_equal<>()) == visible.end();
  return rising ? visible : std::vector<int>();
}

}  // namespace

Machine CompleteConfig(const Config& config, const Gpus& gpus) {
  Machine machine;
  const bool cuda = config.engine != "cpu" && gpus.count > 0;
  const bool none = config.engine == "cuda" && !cuda;
  machine.engine = cuda ? "cuda" : none ? "none" : "cpu";
  machine.reason = machine.engine + ": " +
                   (cuda                     ? std::to_string(gpus.count) + " x " + gpus.text
                    : none                   ? "ROPEWAY_ENGINE=cuda, but " + gpus.text
                    : config.engine == "cpu" ? "the settings ask for it"
                                             : gpus.text);
  machine.devices = none ? 0 : config.devices_set || !cuda ? config.devices : gpus.count;
  machine.device_memory = config.device_memory_set || !cuda ? config.device_memory : ShareOfGpu(gpus, machine.devices);
  if (config.visible) machine.visible = ReadVisibleDevices(*config.visible, machine.devices);
  return machine;
}

const Machine& ThisMachine() {
  static std::atomic<const Machine*> machine{nullptr};
  if (const Machine* known = machine.load(std::memory_order_acquire)) return *known;
  const LockGuard lock(fork_lock::start);
  if (machine.load(std::memory_order_relaxed) == nullptr) {
    const Config& config = GetConfig();
    machine.store(new Machine(CompleteConfig(config, config.engine == "cpu" ? Gpus() : LookForGpus())), std::memory_order_release);
  }
  return *machine.load(std::memory_order_relaxed);
}

std::unique_ptr<Engine> CreateEngine() {
  const Config& config = GetConfig();
  if (ThisMachine().engine != "cuda") return cpu::CreateCpuEngine(config);
  return sched::CreateLaneEngine(config, [&](WorkSharer& sharer) {
    std::string why;
    std::unique_ptr<Backend> backend(ThePlugin(&why)->create(sharer, static_cast<unsigned>(config.cuda_ctas)));
    if (backend == nullptr)
      throw std::runtime_error("the GPU cannot be set up; is it in use by another program? ROPEWAY_ENGINE=cpu works without");
    return backend;
  });
}

}  // namespace ropeway
