// An engine: a backend that moves bytes, and the crew that the setting `schedule` asks for.
#pragma once

#include <functional>
#include <memory>

#include "base/config.h"
#include "engine/engine.h"

namespace ropeway::sched {

using MakeBackend = std::function<std::unique_ptr<Backend>(WorkSharer& sharer)>;

std::unique_ptr<Engine> CreateLaneEngine(const Config& config, const MakeBackend& make_backend);

}  // namespace ropeway::sched
