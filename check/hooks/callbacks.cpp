// Functions of the program that run in a stream's order. When one begins, the host knows that what is in front of it is over.
#include "check/call.h"

using namespace ropeway::check;

namespace {

struct Function {
  void (*function)(void*);
  void* argument;
  std::shared_ptr<Point> point;
  bool captured;  // runs with every replay
};

void Run(void* argument) {
  auto* const held = static_cast<Function*>(argument);
  {
    const std::lock_guard lock(Call::Mutex());
    Books::Get().model.Finish(*held->point);
  }
  held->function(held->argument);
  if (!held->captured) delete held;
}

// Kept before the call: the function may have run when it returns.
Function* Keep(Call& call, void (*function)(void*), void* argument, aclrtStream named) {
  Function* held = nullptr;
  call.Keep([&](Books& books, uint32_t operation) {
    const StreamIndex index = books.StreamOf(named);
    held = new Function{function, argument, std::make_shared<Point>(), books.model.CaptureOf(index) != nullptr};
    held->point->operation = operation;
    Step step;
    step.effect = Step::Effect::kPass;
    step.operation = operation;
    step.point = held->point;
    books.model.Submit(index, std::move(step));
  });
  return held;
}

}  // namespace

RW_HOOK(aclrtLaunchHostFunc);
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  RW_CALL(aclrtLaunchHostFunc);
  Function* const held = fn == nullptr ? nullptr : Keep(call, fn, args, Named(stream));
  if (held == nullptr) return NEXT(aclrtLaunchHostFunc)(stream, fn, args);
  const aclError code = NEXT(aclrtLaunchHostFunc)(stream, &Run, held);
  if (code != ACL_SUCCESS) delete held;
  return code;
}

RW_HOOK(aclrtLaunchCallback);
aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  RW_CALL(aclrtLaunchCallback);
  Function* const held = fn == nullptr ? nullptr : Keep(call, fn, userData, Named(stream));
  if (held == nullptr) return NEXT(aclrtLaunchCallback)(fn, userData, blockType, stream);
  const aclError code = NEXT(aclrtLaunchCallback)(&Run, held, blockType, stream);
  if (code != ACL_SUCCESS) delete held;
  return code;
}
