// The inside of a communicator, for the files of this room that need its channels or its lifeline. I/O thread only.
#pragma once

#include "hccl/membership/channels.h"
#include "hccl/membership/communicator.h"
#include "hccl/membership/membership.h"

namespace ropeway::comm {

struct Parts {
  // Null once the communicator is destroyed.
  static Channels* ChannelsOf(Communicator& communicator) { return communicator.channels_.get(); }
  static Membership* MembershipOf(Communicator& communicator) { return communicator.membership_.get(); }
  static const std::pair<std::string, uint32_t>& PresentAs(const Communicator& communicator) { return communicator.present_; }
  static void Dissolve(Communicator& communicator, std::function<void()> done);
};

}  // namespace ropeway::comm
