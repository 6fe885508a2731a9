#include "hccl/onesided/mailbox.h"

#include "hccl/base/told.h"

namespace ropeway::comm {

void Mailboxes::Deliver(uint32_t peer, uint16_t type, const std::string& body) {
  LockGuard lock(mutex_);
  boxes_[peer].messages[type].push_back(body);
  changed_.notify_all();
}

void Mailboxes::End(uint32_t peer, HcclResult why) {
  LockGuard lock(mutex_);
  boxes_[peer].ended = true;
  // A peer that left in good order is still one that will not answer.
  boxes_[peer].why = why == HCCL_SUCCESS ? HCCL_E_REMOTE : why;
  changed_.notify_all();
}

HcclResult Mailboxes::Take(uint32_t peer, uint16_t type, Deadline deadline, std::string* body) {
  LockGuard lock(mutex_);
  Box& box = boxes_[peer];
  std::deque<std::string>& messages = box.messages[type];
  const RankWait wait(peer);
  if (!changed_.wait_until(mutex_, deadline.at(), [&] { return !messages.empty() || box.ended; })) return HCCL_E_TIMEOUT;
  if (messages.empty()) return box.why;
  *body = std::move(messages.front());
  messages.pop_front();
  return HCCL_SUCCESS;
}

}  // namespace ropeway::comm
