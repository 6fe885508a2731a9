// The watcher behind all profiles: puts together what belongs to one call and one task, gives both the same number, and tells those who
// listen when it is over. It watches for as long as somebody listens.
#pragma once

#include "profile/activity.h"

namespace ropeway {

class ActivityListener {
 public:
  // On the calling thread, without locks: functions of the program may be called.
  virtual void CallBegins(const CallFrame&) {}
  virtual void CallEnds(const CallFrame&, const Activity&) {}
  // Of tasks, blocks and marks: on any thread, with locks of the runtime held. To be put aside, and nothing else.
  virtual void Happened(const Activity& activity) = 0;
  virtual bool WantsMarks() const = 0;
  // The process ends in an orderly way.
  virtual void ProcessEnds() {}

 protected:
  ~ActivityListener() = default;
};

enum class Listening { kAclprof, kMspti };

// Null: no longer. A listener is never destroyed, and may be told a last word after it has left.
void Listen(Listening who, ActivityListener* listener);

int64_t RealNs();

}  // namespace ropeway
