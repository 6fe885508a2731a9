// Functions of the program that run in a stream's order. When one begins, the host knows that what is in front of it is over.
#include "check/call.h"

using namespace ropeway::check;

namespace {

struct Launched {
  void (*function)(void*);
  void* argument;
  std::shared_ptr<Function> runs;
  bool captured;  // runs with every replay
};

// What is behind it waits until it returns: what it does itself passes nothing of that.
void Run(void* argument) {
  auto* const held = static_cast<Launched*>(argument);
  std::shared_ptr<Function::Run> run;
  {
    const std::lock_guard lock(Call::Mutex());
    Books& books = Books::Get();
    run = books.model.Begin(*held->runs);
    HostAccess::Settle(books);
  }
  const Function::Run* const outside = Books::running;
  Books::running = run.get();
  {
    const FunctionScope scope(run == nullptr ? Place{} : run->place, held->captured);
    held->function(held->argument);
  }
  Books::running = outside;
  if (run != nullptr) {
    const std::lock_guard lock(Call::Mutex());
    Books::Get().model.End(run);
  }
  if (!held->captured) delete held;
}

// Kept before the call: the function may have run when it returns.
Launched* Keep(Call& call, void (*function)(void*), void* argument, bool holds_its_stream, aclrtStream named) {
  Launched* held = nullptr;
  call.Keep([&](Books& books, uint32_t operation) {
    const StreamIndex index = books.StreamOf(named);
    held = new Launched{function, argument, std::make_shared<Function>(), books.model.CaptureOf(index) != nullptr};
    held->runs->holds_its_stream = holds_its_stream;
    Step step;
    step.effect = Step::Effect::kCall;
    step.operation = operation;
    step.function = held->runs;
    books.model.Submit(index, std::move(step));
  });
  return held;
}

void Withdraw(Call& call, Launched* held, aclrtStream named) {
  call.Keep([&](Books& books, uint32_t) { books.model.Withdraw(books.StreamOf(named), *held->runs); });
  delete held;
}

}  // namespace

RW_HOOK(aclrtLaunchHostFunc);
aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  RW_CALL(aclrtLaunchHostFunc);
  Launched* const held = fn == nullptr ? nullptr : Keep(call, fn, args, true, Named(stream));
  if (held == nullptr) return NEXT(aclrtLaunchHostFunc)(stream, fn, args);
  const aclError code = NEXT(aclrtLaunchHostFunc)(stream, &Run, held);
  if (code != ACL_SUCCESS) Withdraw(call, held, Named(stream));
  return code;
}

RW_HOOK(aclrtLaunchCallback);
aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  RW_CALL(aclrtLaunchCallback);
  Launched* const held = fn == nullptr ? nullptr : Keep(call, fn, userData, blockType == ACL_CALLBACK_BLOCK, Named(stream));
  if (held == nullptr) return NEXT(aclrtLaunchCallback)(fn, userData, blockType, stream);
  const aclError code = NEXT(aclrtLaunchCallback)(&Run, held, blockType, stream);
  if (code != ACL_SUCCESS) Withdraw(call, held, Named(stream));
  return code;
}
