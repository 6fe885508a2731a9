// What every thread of the runtime has at the top of its function: a name for people who look at the process, and the word to race
// detectors that what follows is our own code.
#pragma once

#include <pthread.h>

#include "base/race_detector.h"

namespace ropeway {

class OwnThread {
 public:
  explicit OwnThread(const char* name) { pthread_setname_np(pthread_self(), name); }

 private:
  race_detector::OurCode ours_;
};

}  // namespace ropeway
