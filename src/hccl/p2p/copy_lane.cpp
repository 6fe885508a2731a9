#include "hccl/p2p/copy_lane.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/cores.h"
#include "hccl/transport/io_thread.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// A part is at least so much: less is done sooner than another lane is woken. More lanes than these find the memory busy.
constexpr uint64_t kLeastPart = 512 << 10;
constexpr uint64_t kMostParts = 4;

size_t PartsOf(uint64_t size) {
  static const auto cores = static_cast<uint64_t>(UsableCores());
  return std::clamp<uint64_t>(size / kLeastPart, 1, std::min(cores, kMostParts));
}

// Behind every copy: tells that it is done, or that the stream gave it up. One of the two functions gets it, once.
struct Mark {
  std::function<std::string()> work;  // may be empty
  CopyLane::Done done;
};

void Tell(void* argument, std::string failure) {
  IoThread::Get().Post([mark = std::shared_ptr<Mark>(static_cast<Mark*>(argument)), failure = std::move(failure)] { mark->done(failure); });
}

void Passed(void* argument, ropewayOperation operation) {
  const std::function<std::string()>& work = static_cast<Mark*>(argument)->work;
  std::string failure = work ? work() : "";
  ropewayFinishOperation(operation, 0, "");
  Tell(argument, std::move(failure));
}

void GivenUp(void* argument, int32_t started) {
  if (started == 0) Tell(argument, "the copy was given up: it failed, or its context is gone");
}

// A part of what several lanes do, and where its failure goes. As with marks, one of the two gets it.
struct Part {
  std::shared_ptr<std::vector<std::string>> failures;
  size_t number;
  std::function<std::string()> work;
};

void RunPart(void* argument, ropewayOperation operation) {
  const std::unique_ptr<Part> part(static_cast<Part*>(argument));
  (*part->failures)[part->number] = part->work();
  ropewayFinishOperation(operation, 0, "");
}

void DropPart(void* argument, int32_t started) {
  if (started != 0) return;
  const std::unique_ptr<Part> part(static_cast<Part*>(argument));
  (*part->failures)[part->number] = "it was given up: its context is gone";
}

aclError LaunchPart(std::unique_ptr<Part> part, aclrtStream stream) {
  const aclError code = ropewayLaunchOperation(&RunPart, &DropPart, part.get(), stream);
  if (code == ACL_SUCCESS) static_cast<void>(part.release());
  return code;
}

// The first that there is.
std::string FailureOf(const std::vector<std::string>& failures) {
  const auto found = std::find_if(failures.begin(), failures.end(), [](const std::string& failure) { return !failure.empty(); });
  return found == failures.end() ? "" : *found;
}

}  // namespace

std::string RuntimeText(const char* call, aclError code) {
  const char* const text = aclGetRecentErrMsg();
  return std::string(call) + " answered " + std::to_string(code) + (text == nullptr ? "" : std::string(": ") + text);
}

void CopyLane::Clear() {
  while (!teams_.empty()) Discard(teams_.begin()->first);
}

void CopyLane::Discard(aclrtContext context) {
  const auto node = teams_.extract(context);
  if (!node) return;
  const Team& team = node.mapped();
  // A context that is gone took its streams along; events are nobody's.
  const bool there = aclrtSetCurrentContext(context) == ACL_SUCCESS;
  if (there) aclrtDestroyStreamForce(team.stream);
  for (const Helper& helper : team.helpers) {
    if (there) aclrtDestroyStreamForce(helper.stream);
    aclrtDestroyEvent(helper.over);
  }
  if (team.begun != nullptr) aclrtDestroyEvent(team.begun);
  aclGetRecentErrMsg();
}

aclError CopyLane::TeamOf(aclrtContext context, size_t helpers, Team** team) {
  if (const aclError code = aclrtSetCurrentContext(context); code != ACL_SUCCESS) return code;
  auto found = teams_.find(context);
  if (found == teams_.end()) {
    aclrtStream stream = nullptr;
    if (const aclError code = aclrtCreateStream(&stream); code != ACL_SUCCESS) return code;
    // What comes after a failed copy must not look like its success. The program's own streams keep their mode.
    ropewayStopStreamOnFailure(stream);
    found = teams_.emplace(context, Team{stream, nullptr, {}}).first;
  }
  *team = &found->second;
  if (helpers > 0 && (*team)->begun == nullptr) {
    if (const aclError code = aclrtCreateEvent(&(*team)->begun); code != ACL_SUCCESS) return code;
  }
  while ((*team)->helpers.size() < helpers) {
    Helper helper;
    if (const aclError code = aclrtCreateEvent(&helper.over); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtCreateStream(&helper.stream); code != ACL_SUCCESS) return aclrtDestroyEvent(helper.over), code;
    (*team)->helpers.push_back(helper);
  }
  return ACL_SUCCESS;
}

aclError CopyLane::Queue(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device,
                         Done& done) {
  Team* team = nullptr;
  if (const aclError code = TeamOf(context, 0, &team); code != ACL_SUCCESS) return code;
  if (peer_device >= 0 && enabled_.insert({context, peer_device}).second) aclrtDeviceEnablePeerAccess(peer_device, 0);
  if (const aclError code = aclrtMemcpyAsync(dst, bytes, src, bytes, kind, team->stream); code != ACL_SUCCESS) return code;
  return QueueMark(team->stream, nullptr, done);
}

// The streams beside this one begin where it is now, and it waits for them before it goes on. What was queued when one of these fails
// runs, and has nobody to tell.
aclError CopyLane::QueueParts(aclrtContext context, uint64_t size, uint64_t unit, size_t parts, Work work, Done& done) {
  Team* team = nullptr;
  if (const aclError code = TeamOf(context, parts - 1, &team); code != ACL_SUCCESS) return code;
  const auto failures = std::make_shared<std::vector<std::string>>(parts);
  const auto launch = [&](size_t number, aclrtStream stream) {
    const uint64_t units = size / unit, begin = units * number / parts * unit, end = units * (number + 1) / parts * unit;
    return LaunchPart(std::make_unique<Part>(Part{failures, number, [work, begin, end] { return work(begin, end); }}), stream);
  };
  if (const aclError code = aclrtRecordEvent(team->begun, team->stream); code != ACL_SUCCESS) return code;
  for (size_t i = 1; i < parts; ++i) {
    const Helper& helper = team->helpers[i - 1];
    if (const aclError code = aclrtStreamWaitEvent(helper.stream, team->begun); code != ACL_SUCCESS) return code;
    if (const aclError code = launch(i, helper.stream); code != ACL_SUCCESS) return code;
    if (const aclError code = aclrtRecordEvent(helper.over, helper.stream); code != ACL_SUCCESS) return code;
  }
  if (const aclError code = launch(0, team->stream); code != ACL_SUCCESS) return code;
  for (size_t i = 1; i < parts; ++i) {
    if (const aclError code = aclrtStreamWaitEvent(team->stream, team->helpers[i - 1].over); code != ACL_SUCCESS) return code;
  }
  return QueueMark(
      team->stream, [failures] { return FailureOf(*failures); }, done);
}

aclError CopyLane::QueueMark(aclrtStream stream, std::function<std::string()> work, Done& done) {
  auto mark = std::make_unique<Mark>(Mark{std::move(work), done});
  const aclError code = ropewayLaunchOperation(&Passed, &GivenUp, mark.get(), stream);
  if (code == ACL_SUCCESS) mark.release();
  return code;
}

void CopyLane::Run(aclrtContext context, uint64_t size, uint64_t unit, Work work, Done done) {
  const size_t parts = PartsOf(size);
  Team* team = nullptr;
  aclError code = parts > 1 ? QueueParts(context, size, unit, parts, work, done) : TeamOf(context, 0, &team);
  if (team != nullptr && code == ACL_SUCCESS)
    code = QueueMark(
        team->stream, [work = std::move(work), size] { return work(0, size); }, done);
  if (code != ACL_SUCCESS) done(RuntimeText("ropewayLaunchOperation", code));
}

void CopyLane::Copy(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device,
                    Done done) {
  const aclError code = Queue(context, dst, src, bytes, kind, peer_device, done);
  if (code == ACL_SUCCESS) return;
  done(RuntimeText("aclrtMemcpyAsync", code));
}

}  // namespace ropeway::comm
