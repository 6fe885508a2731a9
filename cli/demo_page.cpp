// See demo_page.h.
#include "cli/demo_page.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cli/acl_objects.h"
#include "cli/exit_codes.h"
#include "cli/report_analysis.h"
#include "cli/report_limit.h"
#include "cli/report_page.h"
#include "cli/run_self.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBlock = 4 << 20, kSlots = 4, kRounds = 64;

// A program as they are: blocks go in through one stream, host code looks at them in a second, a third brings them back. An event hands a
// block on, another says that its slot is free again; so all three work at the same time, on different blocks.
class Pipeline {
 public:
  bool Run() {
    std::memset(source_.data(), 0x5A, kBlock);
    std::memset(result_.data(), 0, result_.size());
    RW_ACL(aclrtMemset(device_.data(), device_.size(), 0, device_.size()));
    for (size_t round = 0; round < kRounds; ++round) Round(round);
    out_.Synchronize();
    for (size_t slot = 0; slot < kSlots; ++slot) {
      if (std::memcmp(source_.data(), result_.at(slot * kBlock), kBlock) != 0) return false;
    }
    return sum_ != 0;
  }

 private:
  void Round(size_t round) {
    const size_t slot = round % kSlots;
    void* const device = device_.at(slot * kBlock);
    if (round >= kSlots) Order(in_, free_[slot]);
    RW_ACL(aclrtMemcpyAsync(device, kBlock, source_.data(), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, in_.get()));
    HandOn(come_[slot], in_, work_);
    RW_ACL(aclrtLaunchHostFunc(work_.get(), &Pipeline::Work, this));
    HandOn(done_[slot], work_, out_);
    RW_ACL(aclrtMemcpyAsync(result_.at(slot * kBlock), kBlock, device, kBlock, ACL_MEMCPY_DEVICE_TO_HOST, out_.get()));
    RW_ACL(aclrtRecordEvent(free_[slot].get(), out_.get()));
  }

  static void Order(const Stream& stream, const Event& event) { RW_ACL(aclrtStreamWaitEvent(stream.get(), event.get())); }
  static void HandOn(const Event& event, const Stream& from, const Stream& to) {
    RW_ACL(aclrtRecordEvent(event.get(), from.get()));
    Order(to, event);
  }
  // About as long as a copy.
  static void Work(void* pipeline) {
    Pipeline& self = *static_cast<Pipeline*>(pipeline);
    for (size_t i = 0; i < kBlock / 8; ++i) self.sum_ = self.sum_ * 31 + self.source_.data()[i];
  }

  PinnedBlock source_{kBlock}, result_{kSlots * kBlock};
  DeviceBlock device_{kSlots * kBlock};
  Stream in_, work_, out_;
  std::array<Event, kSlots> come_, done_, free_;
  uint64_t sum_ = 1;
};

TraceData TraceOf(const std::string& path) {
  std::remove(path.c_str());
  if (RunSelf({"ropeway", kDemoStreams}, "ROPEWAY_TRACE", path) != kDone)
    throw std::runtime_error("the streams to be traced came to grief");
  TraceData trace;
  std::string why;
  if (!ReadTraces({path}, &trace, &why)) throw std::runtime_error(why);
  return trace;
}

}  // namespace

int RunDemoStreams() {
  const DeviceScope device(0);
  return Pipeline().Run() ? kDone : kFound;
}

void WriteDemoPage(const std::string& page, std::FILE* say) {
  const std::string path = page.substr(0, page.rfind(".html")) + ".rwt";
  const TraceData trace = TraceOf(path);
  std::fprintf(say, "three streams, traced (%s): two or more ran side by side for %.0f %% of the time\n", path.c_str(),
               100 * SideBySide(trace));
  WritePageFile(page, MakePage(trace, Analyse(trace, MeasureLimit(trace)), ""), say);
}

}  // namespace ropeway::cli
