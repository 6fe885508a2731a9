// What everybody who runs tasks works with.
#pragma once

#include <memory>

#include "engine/backend.h"
#include "engine/sched/shared_work.h"
#include "engine/sched/value_watch.h"

namespace ropeway::sched {

struct Workshop {
  template <typename MakeBackend>
  explicit Workshop(MakeBackend make_backend) : backend(make_backend(sharer)), values(*backend) {}

  WorkSharer sharer;
  const std::unique_ptr<Backend> backend;
  ValueWatch values;
  const AddressJudge* judge = nullptr;
};

}  // namespace ropeway::sched
