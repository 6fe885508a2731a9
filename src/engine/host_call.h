// User functions in a stream. The engine never runs them: it hands them to a sink (the context's own thread, or the
// mailbox of a thread that the program provides) and is told when a blocking one returned.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway {

struct HostCall {
  // How the work ended that a function has left behind; 0: well.
  struct Ending {
    int code = 0;
    std::string text;
  };
  class Return {
   public:
    // The function returned. Called on the thread that ran it.
    virtual void Returned() = 0;
    Ending ending;  // set before; whoever is told of the return takes it

   protected:
    ~Return() = default;
  };

  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  Return* on_return = nullptr;  // null: nobody waits for it

  // Runs the function and tells whoever waits. Sinks call nothing else.
  void Run() const;

  // The call that the current thread is inside of; null when it runs no host function for a stream.
  static thread_local const Return* running_here;
  static thread_local bool inside;
  // What is done behind the function that the current thread runs, before anybody is told of its return; for calls that somebody waits
  // for. The function sets it, by calls of ours.
  using Epilogue = Ending (*)();
  static thread_local Epilogue epilogue;
};

struct TaskFailure;

// A kernel by stand-in: a host function with arguments of its own. Its task owns it, or the graph that the task is in; one run at a time.
class KernelCall {
 public:
  virtual ~KernelCall() = default;
  // The next run is a replay's, in front of it: the number that the replay has in its graph, and the free clock when it was submitted.
  virtual void Prepare(uint64_t /*replay*/, uint64_t /*as_of*/) {}
  // On the sink's thread.
  virtual void Run() = 0;
  // How the run ended, asked behind it; 0: well.
  virtual int Failed(TaskFailure* failure) const = 0;
};

class HostCallSink {
 public:
  // False: there is no memory for it, and it will not be called.
  virtual bool Post(const HostCall& call) = 0;
  // Takes a call back that has not begun. False when it is running, or has returned.
  virtual bool Retract(HostCall::Return* on_return) = 0;

 protected:
  ~HostCallSink() = default;
};

}  // namespace ropeway
