#include "engine/cpu/cpu_engine.h"

#include "engine/cpu/cpu_backend.h"
#include "engine/sched/lane_engine.h"

namespace ropeway::cpu {

std::unique_ptr<Engine> CreateCpuEngine(const Config& config) {
  Config tuned = config;
  tuned.lanes = ThisProfile().profile.lanes;  // the setting, where there is one
  return sched::CreateLaneEngine(tuned, [&](WorkSharer& sharer) { return std::make_unique<CpuBackend>(sharer, config.host_access); });
}

}  // namespace ropeway::cpu
