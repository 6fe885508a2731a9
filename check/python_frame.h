// The line of Python that this thread is at, asked of whichever Python is in the process, through its stable interface: for the layer,
// which knows no Python, and for the module, whose headers are those of an old one. Python's lock is held.
#pragma once

#include <cstdint>
#include <string>

namespace ropeway::check {

class PythonFrame {
 public:
  PythonFrame();  // the one on top
  ~PythonFrame();
  PythonFrame(const PythonFrame&) = delete;
  PythonFrame& operator=(const PythonFrame&) = delete;

  // There is a Python, and this thread is inside a function of it.
  explicit operator bool() const { return code_ != nullptr; }
  int line() const { return line_; }
  // The function's code: as good as its name, as long as somebody has it.
  uintptr_t code() const { return reinterpret_cast<uintptr_t>(code_); }
  // The code lives for ever from now on.
  void Keep() { kept_ = true; }
  std::string Path() const;

 private:
  void* code_ = nullptr;
  int line_ = 0;
  bool kept_ = false;
};

// For a thread that may not have Python's lock.
class PythonLock {
 public:
  PythonLock();
  ~PythonLock();
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

 private:
  int state_ = 0;
};

// There is a Python in the process.
bool HasPython();

}  // namespace ropeway::check
