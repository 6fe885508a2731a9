// Objects that programs hold by number and that only this module knows. A number that is not a live object is noticed
// instead of followed. Guarded by the interpreter lock.
#pragma once

#include <string>
#include <unordered_set>

#include "refuse.h"

namespace ropeway::python {

template <typename Object>
class LiveSet {
 public:
  // `what` names the objects in texts.
  explicit LiveSet(const char* what) : what_(what) {}

  Object* Add(Object object) {
    auto* made = new Object(std::move(object));
    live_.insert(made);
    return made;
  }

  // Null, with a text filed under `path`, when it is not live.
  Object* Find(const char* path, Object* handle) const {
    if (live_.count(handle) != 0) return handle;
    Fail(path, kInvalidParam, std::to_string(reinterpret_cast<uintptr_t>(handle)) + " is not a live " + what_);
    return nullptr;
  }

  bool Remove(const char* path, Object* handle) {
    if (Find(path, handle) == nullptr) return false;
    live_.erase(handle);
    delete handle;
    return true;
  }

  static constexpr int kInvalidParam = 100000;

 private:
  const char* what_;
  std::unordered_set<Object*> live_;
};

}  // namespace ropeway::python
